// Which manifest code was compiled with: see directory.h.
#include <vector>

#include "data/sha256.h"
#include "plan/directory.h"
#include "plan/json.h"
#include "plan/json_tape.h"
#include "support/says.h"

namespace svod {

namespace {

/// Writes texts with parts replaced.
class Editor {
 public:
  explicit Editor(std::string_view text) : text_(text) {}

  /// `old` lies in the text, behind what was replaced before; else nothing comes of it all.
  void replace(std::string_view old, std::string_view by) {
    const char* const from = text_.data() + done_;
    isWhole_ = isWhole_ && old.data() >= from && old.data() + old.size() <= text_.data() + text_.size();
    if (!isWhole_) return;
    out_.append(from, old.data());
    out_ += by;
    done_ = static_cast<size_t>(old.data() + old.size() - text_.data());
  }
  std::string finish() { return isWhole_ ? std::move(out_.append(text_.substr(done_))) : std::string(); }

 private:
  std::string_view text_;
  size_t done_ = 0;
  bool isWhole_ = true;
  std::string out_;
};

std::string_view digitsOf(const JsonToken& number) {
  const char* end = number.text;
  while (*end >= '0' && *end <= '9') end++;  // JSON does not end with a number
  return {number.text, end};
}

/// The manifest as if its files of code were empty.
std::string withoutCode(std::string_view manifest) {
  const std::optional<JsonTape> parsed = JsonTape::parse(manifest);
  if (!parsed) return {};
  const JsonTape& tape = *parsed;
  const auto member = [&](uint32_t object, std::string_view name, JsonType type) {
    const uint32_t at = tape[object].type == JsonType::Object ? tape.find(object, name) : 0;
    return tape[at].type == type ? at : 0;
  };
  Editor text(manifest);
  const uint32_t files = member(0, "files", JsonType::Array);
  for (uint32_t file = files + 1; files != 0 && file < tape[files].end; file = tape[file].end) {
    const uint32_t kind = member(file, "kind", JsonType::String), bytes = member(file, "bytes", JsonType::Integer),
                   hash = member(file, "sha256", JsonType::String);
    if (kind == 0 || bytes == 0 || hash == 0) return {};
    if (tape.text(kind) != "code" && tape.text(kind) != "image") continue;
    text.replace(digitsOf(tape[bytes]), "0");
    text.replace(tape.text(hash), "");
  }
  return text.finish();
}

}  // namespace

std::string codeRecord(std::string_view manifest) { return recordOf(sha256Hex(withChecksum(withoutCode(manifest)))); }

}  // namespace svod
