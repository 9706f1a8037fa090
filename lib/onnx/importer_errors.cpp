// How the importer records what is wrong.
#include <algorithm>

#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/text.h"

namespace svod {

namespace {

constexpr size_t kMaxErrors = 1000;

std::string namesOf(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const std::string& n : names) {
    if (text.size() > 300) return text + ", ..";
    text += (text.empty() ? "'" : ", '") + shortened(n) + "'";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void OnnxImporter::record(Error error) {
  ++problems_;
  if (error.loc.file.empty()) error.loc.file = file_->path;
  if (errors_.size() < kMaxErrors) errors_.push_back(printable(std::move(error)));
  isFull_ |= errors_.size() >= kMaxErrors;
}

void OnnxImporter::record(Diag diag, std::string message, std::string help) {
  record(Error{diag, std::move(message), std::move(help), {}, {}});
}

bool OnnxImporter::takeError() {
  std::optional<Error> error = builder_.takeError();
  if (error) record(std::move(*error));
  return error.has_value();
}

void OnnxImporter::recordNode(const Body& body, const proto::NodeProto& node, Error error) {
  auto opset = body.opsets->find(canonicalDomain(node.domain()));
  std::string where = opName(node);
  where += " (opset " + (opset == body.opsets->end() ? "?" : std::to_string(opset->second)) + ")";
  if (!node.name().empty()) where += ", node '" + shortened(node.name()) + "'";
  where += body.place;
  // What is not supported often comes in many nodes; it is said once.
  std::string key = opName(node) + "\n" + error.message;
  if (error.diag == Diag::Unsupported) {
    auto [it, isNew] = repeated_.try_emplace(key, Repeated{errors_.size()});
    if (!isNew) {
      ++problems_;
      Error& first = errors_[it->second.error];
      std::string note = "the same in " + std::to_string(it->second.count++) + " more nodes";
      if (first.notes.back().starts_with("the same")) first.notes.pop_back();
      first.notes.push_back(std::move(note));
      return;
    }
  }
  error.message = where + ": " + error.message;
  error.notes.push_back("inputs " + namesOf(node.input()) + ", outputs " + namesOf(node.output()));
  record(std::move(error));
}

bool OnnxImporter::attempt(const std::function<void()>& build) {
  GraphBuilder::Mark before = builder_.mark();
  size_t errors = errors_.size(), problems = problems_;
  std::map<std::string, Repeated> repeated = repeated_;
  bool wasFull = isFull_;
  build();
  auto isLimit = [](const Error& e) { return e.diag == Diag::Unsupported; };
  bool isGood = !builder_.failed() && problems_ == problems;
  if (isGood || !std::all_of(errors_.begin() + static_cast<ptrdiff_t>(errors), errors_.end(), isLimit))
    return true;
  builder_.takeError();
  builder_.rewind(std::move(before));
  errors_.erase(errors_.begin() + static_cast<ptrdiff_t>(errors), errors_.end());
  problems_ = problems;
  repeated_ = std::move(repeated);
  isFull_ = wasFull;
  return false;
}

}  // namespace svod
