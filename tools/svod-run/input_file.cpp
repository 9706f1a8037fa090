#include "input_file.h"

#include <charconv>
#include <cstring>

#include "support/suggest.h"

namespace svod {

namespace {

constexpr std::string_view kTensors = ".safetensors", kTensorMark = ".safetensors:";

struct Part {
  std::string file;
  uint64_t begin = 0;
  std::optional<uint64_t> end;
};

/// A whole number, or nothing where there are no digits.
bool parseNumber(std::string_view text, std::optional<uint64_t>& to) {
  if (text.empty()) return true;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), to.emplace());
  return error == std::errc() && stop == text.data() + text.size();
}

/// Nothing where no [A:B] ends the text.
std::optional<Part> partOf(const std::string& text) {
  const size_t open = text.rfind('[');
  if (open == std::string::npos || !text.ends_with(']')) return {};
  const std::string_view range = std::string_view(text).substr(open + 1, text.size() - open - 2);
  const size_t colon = range.find(':');
  std::optional<uint64_t> begin, end;
  if (colon == range.npos || !parseNumber(range.substr(0, colon), begin) || !parseNumber(range.substr(colon + 1), end))
    return {};
  return Part{text.substr(0, open), begin.value_or(0), end};
}

Result<InputArray> readTensor(const std::string& path, const std::string& name) {
  InputArray array;
  SVOD_TRY(array.tensors, SafetensorsFile::open(path));
  const SafeTensor* tensor = array.tensors->find(name);
  if (tensor == nullptr) {
    std::vector<std::string_view> names;
    for (const SafeTensor& each : array.tensors->tensors()) names.push_back(each.name);
    return fail(Diag::UnknownPort, "'" + path + "' has no tensor '" + name + "'",
                didYouMean(name, names, "it has " + std::to_string(names.size()) + " of other names"));
  }
  if (!tensor->dtype)
    return fail(Diag::InputMismatch,
                "tensor '" + name + "' of '" + path + "' has dtype " + tensor->dtypeText + ", which no plan takes");
  array.dtype = *tensor->dtype, array.shape = tensor->shape, array.data = array.tensors->bytes(*tensor);
  return array;
}

Result<InputArray> readWhole(const std::string& file, ElementType want) {
  if (const size_t mark = file.find(kTensorMark); mark != std::string::npos)
    return readTensor(file.substr(0, mark + kTensorMark.size() - 1), file.substr(mark + kTensorMark.size()));
  if (file.ends_with(kTensors))
    return fail(Diag::UnknownPort, "'" + file + "' does not say which tensor", "write " + file + ":NAME");
  InputArray array;
  if (file == "-") {
    SVOD_TRY(std::string text, readStandardInput());
    SVOD_TRY(array.npy, readNpyBytes(std::as_bytes(std::span(text)), "standard input", want));
  } else {
    SVOD_TRY(array.npy, readNpy(file, want));
  }
  array.dtype = array.npy.dtype, array.shape = array.npy.shape, array.data = array.npy.data;
  return array;
}

Status cut(InputArray& array, const Part& part, const std::string& text) {
  const uint64_t count = array.shape.empty() ? 0 : array.shape[0], end = part.end.value_or(count);
  if (array.shape.empty() || part.begin > end || end > count)
    return fail(Diag::InputMismatch,
                "'" + text + "': " +
                    (array.shape.empty() ? "the array has no axis"
                                         : "the first axis has " + std::to_string(count) + " entries"),
                "[A:B] are the entries from A up to B, which is not one of them");
  uint64_t bits = info(array.dtype).bits;  // of an entry
  for (size_t axis = 1; axis < array.shape.size(); axis++) bits *= array.shape[axis];
  if (part.begin * bits % 8 != 0)
    return fail(Diag::InputMismatch, "'" + text + "' begins inside of a byte",
                "begin at an entry whose number is a multiple of 4");
  array.shape[0] = end - part.begin;
  array.data = array.data.subspan(part.begin * bits / 8, (array.shape[0] * bits + 7) / 8);
  return {};
}

}  // namespace

Result<InputArray> readInput(const std::string& text, ElementType want) {
  const std::optional<Part> part = partOf(text);
  Result<InputArray> whole = readWhole(part ? part->file : text, want);
  if (!whole && !part && text.ends_with(']') && text.find(kTensorMark) == text.npos)
    return fail(std::move(whole.error()).withHelp("a part is [A:B], with whole numbers from 0 on"));
  SVOD_TRY(InputArray array, std::move(whole));
  if (part) SVOD_CHECK(cut(array, *part, text));
  if (!array.data.empty() && reinterpret_cast<uintptr_t>(array.data.data()) % byteSize(array.dtype) != 0) {
    array.copied.assign(array.data.begin(), array.data.end());
    array.data = array.copied;
  }
  return array;
}

bool isStandardInput(const std::string& text) {
  const std::optional<Part> part = partOf(text);
  return (part ? part->file : text) == "-";
}

}  // namespace svod
