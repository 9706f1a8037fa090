// ONNX models as graph files: the names and comments they get.
#include <algorithm>
#include <cctype>

#include "frontend/model_reader.h"
#include "onnx/importer.h"
#include "onnx/onnx.h"
#include "onnx/working_sizes.h"
#include "support/text.h"

namespace svod {

namespace {

// For comments, which end with their line.
std::string oneLine(std::string text) {
  std::string line = shortened(std::move(text), 80);
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

// Loops that lowerings make count with these names, and others that begin with them and a dot.
bool isCounter(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('.'));
  return first == "step" || first == "box" || first == "sample";
}

// The name as graph files write it without quotes: "/layer1/conv:0" becomes "layer1.conv.0".
std::string plainName(std::string_view name) {
  std::string plain;
  for (char c : name) {
    bool isSeparator = c == '/' || c == ':' || c == '.';
    bool isPlain = std::isalnum(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
    if (isSeparator && plain.empty()) continue;
    plain += isSeparator ? '.' : isPlain ? c : '_';
  }
  // Names that begin with an underscore are no labels in graph files.
  bool isStart = !plain.empty() && !std::isdigit(static_cast<unsigned char>(plain[0])) && plain[0] != '_';
  return isStart && !isCounter(plain) ? plain : "v" + plain;
}

}  // namespace

// Values of functions and bodies are made many times under one name.
void OnnxImporter::label(const Tensor& value, const std::string& name) {
  if (isRehearsing || list(value)) return;
  UOp node = value.node();
  while (node.op() == Op::After) node = node.src(0);
  if (!node.isConst() && !builder_.model().labels.contains(node.id()))
    builder_.label(value, uniqueName(plainName(name)));
}

void OnnxImporter::noteNode(const proto::NodeProto& node) {
  builder_.note(oneLine(node.op_type() + (node.name().empty() ? "" : " '" + node.name() + "'")));
}

Result<WrittenModel> OnnxImporter::write(const std::string& weightFile) {
  builder_.settleLengths();
  if (std::optional<Error> error = builder_.takeError()) return fail(std::move(*error));
  SVOD_TRY(WrittenModel written, writeModel(builder_, log_, weightFile));
  const std::string& name = file_->model.graph().name();
  if (name.empty() || written.file.statements.empty()) return written;
  std::vector<std::string>& comments = written.file.statements.front().comments;
  comments.insert(comments.begin(), "# " + oneLine(name) + ", opset " + std::to_string(opsets_[""]));
  return written;
}

namespace {

bool isSame(const Model& a, const Model& b) {
  const auto isSameSizes = [](const EqualSizes& x, const EqualSizes& y) {
    return x.a.hash() == y.a.hash() && x.b.hash() == y.b.hash() && x.text == y.text;
  };
  return a.sink.hash() == b.sink.hash() && std::ranges::equal(a.equalSizes, b.equalSizes, isSameSizes);
}

// A file that builds another graph is not given away.
Status checkSame(const WrittenModel& written, const std::string& weightFile, const Result<Model>& want) {
  if (!want) return fail(want.error());
  const LoadOptions none;
  ModelReader reader(written.file, none);
  for (const WrittenWeight& w : written.weights) reader.weights().give(weightFile + ":" + w.name, w.data);
  reader.read();
  Result<Model> got = reader.errors().empty() ? reader.finish() : fail(reader.errors().front());
  if (got && isSame(*got, *want)) return {};
  Error error(Diag::Unsupported, "the model has no form in graph files", "compile it without converting it");
  if (!got) error->notes.push_back(got.error()->message);
  return fail(std::move(error));
}

Result<OnnxConversion> convertFile(Result<std::shared_ptr<const OnnxFile>> file, const LoadOptions& options,
                                   const std::string& weightFile) {
  if (!file) return fail(file.error());
  std::vector<Error> errors;
  SVOD_TRY(const StateRooms rooms, roomsOf(*file, options, errors));
  const std::unique_ptr<OnnxImporter> importer = OnnxImporter::readFile(*file, options, rooms, true);
  if (importer->hasErrors()) return fail(errorsWithSizes(*file, options, *importer).front());
  Result<WrittenModel> written = importer->write(weightFile);
  Status same = written ? checkSame(*written, weightFile, importer->finish()) : fail(written.error());
  if (same) return OnnxConversion{*std::move(written), importer->notes()};
  return fail(std::move(same.error()).at({(*file)->path, 0, 0}));
}

}  // namespace

Result<OnnxConversion> convertOnnx(const std::string& path, const LoadOptions& options, const std::string& weightFile) {
  return convertFile(readOnnxFile(path), options, weightFile);
}

Result<OnnxConversion> convertOnnxBytes(std::span<const std::byte> bytes, const std::string& path,
                                        const LoadOptions& options, const std::string& weightFile) {
  return convertFile(parseOnnx(bytes, path), options, weightFile);
}

}  // namespace svod
