#include "frontend/frontend.h"

#include <charconv>
#include <filesystem>

#include "data/mapped_file.h"

namespace svod {

namespace {

// A graph file holds structure; larger data belongs into weight files.
constexpr uint64_t kMaxGraphBytes = uint64_t{1} << 26;
constexpr std::string_view kOnnxName = "an ONNX model is a file with a name that ends in .onnx";

std::optional<int64_t> parseInt(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// NAME and what stands behind the first =.
Result<std::pair<std::string, std::string_view>> splitOption(std::string_view text, const std::string& form) {
  size_t at = text.find('=');
  if (at == 0 || at == std::string_view::npos)
    return fail(Diag::Usage, "'" + std::string(text) + "' is not of the form " + form,
                "write a name, = and its value: " + form);
  return std::pair(std::string(text.substr(0, at)), text.substr(at + 1));
}

// Text has none of the characters that steer a terminal, and no model in the format of protobuf begins like a text.
bool looksBinary(std::string_view text) {
  constexpr size_t kLooked = 4096;
  auto isControl = [](char c) { return (c >= 0 && c < '\t') || (c > '\r' && c < ' '); };
  return isControl(text[0]) || text.substr(0, kLooked).find('\0') != text.npos;
}

}  // namespace

Result<VariableOption> parseVariableOption(std::string_view text) {
  SVOD_TRY(auto parts, splitOption(text, "NAME=8, NAME=1:64 or NAME=8*k"));
  VariableOption option{parts.first, {}, {}, {}, {}};
  const std::string forms = "write " + parts.first + "=8, " + parts.first + "=1:64 or " + parts.first + "=1:64~8";
  if (const size_t tilde = parts.second.rfind('~'); tilde != std::string_view::npos) {
    option.likely = parseInt(parts.second.substr(tilde + 1));
    if (!option.likely)
      return fail(Diag::Usage, "the likely value '" + std::string(parts.second.substr(tilde + 1)) + "' is no number",
                  forms);
    parts.second = parts.second.substr(0, tilde);
    if (parts.second.empty()) return option;
  }
  size_t colon = parts.second.find(':');
  if (colon == std::string_view::npos) {
    option.value = parseInt(parts.second);
    if (option.likely)
      return fail(Diag::Usage, "a likely value stands behind bounds, not behind '" + std::string(parts.second) + "'",
                  forms);
    if (option.value) return option;
    if (parts.second.empty()) return fail(Diag::Usage, "nothing stands behind '" + parts.first + "='", forms);
    SVOD_TRY(option.form, parseSizeForm(parts.second));
    return option;
  }
  option.min = parseInt(parts.second.substr(0, colon));
  option.max = parseInt(parts.second.substr(colon + 1));
  if (option.min && option.max && *option.min > *option.max)
    return fail(Diag::Usage, "the bounds '" + std::string(parts.second) + "' are the wrong way round",
                "the lower bound comes first: " + parts.first + "=1:64");
  const bool isInside = !option.likely || (option.min <= option.likely && option.likely <= option.max);
  if (option.min && option.max && !isInside)
    return fail(Diag::Usage, "the likely value " + std::to_string(*option.likely) + " is outside of the bounds", forms);
  if (option.min && option.max) return option;
  return fail(Diag::Usage, "'" + std::string(parts.second) + "' is neither a number nor bounds MIN:MAX", forms);
}

namespace {

// The dims of a shape as texts: between commas where there are any, else between each x outside of backquotes.
std::vector<std::string_view> splitShape(std::string_view text) {
  std::vector<std::string_view> parts;
  const char separator = text.find(',') != text.npos ? ',' : 'x';
  bool isQuoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') isQuoted = !isQuoted;
    if (isQuoted || text[i] != separator) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  // A separator at the end closes the last dim: "5x" and "5," are [5].
  if (begin < text.size()) parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

Result<ShapeOption> parseShapeOption(std::string_view text) {
  SVOD_TRY(auto parts, splitOption(text, "NAME=1x3x224x224"));
  std::vector<SizeForm> dims;
  for (std::string_view part : splitShape(parts.second)) {
    Result<SizeForm> dim = parseSizeForm(part);
    if (part.empty() || !dim || (dim->isNumber() && dim->constant < 0)) {
      Error error(Diag::Usage, "'" + std::string(parts.second) + "' is no shape",
                  "write dims with x between: 1x3x224x224, or batchx3x8*k; where a name holds an x, commas: max_len,3");
      if (!part.empty() && !dim) error->notes.push_back(dim.error()->message);
      return fail(std::move(error));
    }
    dims.push_back(*std::move(dim));
  }
  return ShapeOption(parts.first, std::move(dims));
}

Result<std::pair<std::string, std::string>> parseConstantOption(std::string_view text) {
  SVOD_TRY(auto parts, splitOption(text, "NAME=FILE.npy"));
  return std::pair(parts.first, std::string(parts.second));
}

Result<std::pair<std::string, std::string>> parseStateOption(std::string_view text) {
  SVOD_TRY(auto parts, splitOption(text, "INPUT=OUTPUT"));
  const auto stars = [](std::string_view side) { return std::ranges::count(side, '*'); };
  if (stars(parts.first) != stars(parts.second))
    return fail(Diag::Usage, "--state '" + std::string(text) + "': both sides have the same number of *",
                "for example --state 'past.*.key=present.*.key'");
  return std::pair(parts.first, std::string(parts.second));
}

Result<HostOpOption> parseHostOpOption(std::string_view text) {
  const size_t equals = std::min(text.find('='), text.size()), colon = text.substr(0, equals).rfind(':');
  const std::string what = "--host-op '" + std::string(text) + "': ", example = "for example --host-op com.acme:Scale";
  if (colon == text.npos || colon == 0 || colon + 1 == equals)
    return fail(Diag::Usage, what + "it is DOMAIN:OP", example);
  HostOpOption option{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1, equals - colon - 1)), {}};
  if (equals == text.size()) return option;
  option.dtype = dtypeFromText(text.substr(equals + 1));
  if (!option.dtype || *option.dtype == DType::Void)
    return fail(Diag::Usage, what + "what stands behind = is a dtype", example + "=f32");
  return option;
}

Result<GraphFile> parseGraph(std::string_view text, const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which some editors begin UTF-8 with
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const SourceLoc start{path, 1, 1};
  if (text.empty())
    return fail(Error(Diag::Syntax, "the file is empty",
                      "a graph file begins with the line 'svod 1', or is a JSON object", start));
  if (looksBinary(text))
    return fail(Error(Diag::Syntax, "this is binary data, not the text of a graph", std::string(kOnnxName), start));
  size_t first = text.find_first_not_of(" \t\r\n");
  bool looksLikeJson = first != std::string_view::npos && text[first] == '{';
  bool isJson = path.ends_with(".json") || (!path.ends_with(".svod") && looksLikeJson);
  Result<GraphFile> file = isJson ? parseGraphJson(text, path) : parseGraphText(text, path);
  auto source = std::make_shared<const SourceText>(std::string(text));
  if (file) {
    file->source = std::move(source);
  } else {
    file.error()->loc = source->at(path, file.error()->loc.line, file.error()->loc.column);
  }
  return file;
}

Result<GraphFile> readGraphFile(const std::string& path) {
  std::error_code none;
  const uintmax_t bytes = std::filesystem::file_size(path, none);
  if (!none && bytes > kMaxGraphBytes)
    return fail(Diag::TooLarge, "'" + path + "' has " + std::to_string(bytes) + " bytes, a graph file at most 2^26",
                "large data belongs into .npy or .safetensors files; " + std::string(kOnnxName));
  SVOD_TRY(std::string text, readWholeFile(path, kMaxGraphBytes));
  return parseGraph(text, path);
}

Result<Model> loadModel(const std::string& path, const LoadOptions& options) {
  SVOD_TRY(GraphFile file, readGraphFile(path));
  return buildModel(file, options);
}

}  // namespace svod
