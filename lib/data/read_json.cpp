#include "data/read_json.h"

#include <vector>

namespace svod {

namespace {

using Json = nlohmann::json;

/// Builds the value as it is read. The callbacks of nlohmann's own builder look at all members before each one.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(size_t levels, std::string* twice) : levels_(levels), twice_(twice) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (skipped_ > 0) return true;
    if (twice_ != nullptr && open_.size() == 1 && open_[0]->contains(name)) *twice_ = name;
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  Json& put(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_object()) return (*open_.back())[name_] = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->back();
  }
  bool add(Json value) {
    if (skipped_ == 0) put(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (skipped_ > 0 || open_.size() == levels_) {
      if (skipped_++ == 0) put(nullptr);
    } else {
      open_.push_back(&put(std::move(value)));
    }
    return true;
  }
  bool close() {
    if (skipped_ > 0)
      --skipped_;
    else
      open_.pop_back();
    return true;
  }

  size_t levels_, skipped_ = 0;  // how many that are left out are open
  std::string* twice_;
  Json root_;
  std::vector<Json*> open_;
  std::string name_;  // of the next member
};

}  // namespace

std::optional<Json> readJson(std::string_view text, size_t levels, std::string* twice) {
  Builder builder(levels, twice);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace svod
