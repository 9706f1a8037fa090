#include "data/npy.h"

#include <algorithm>
#include <cstring>

#include "data/atomic_write.h"
#include "data/element_value.h"
#include "support/packed.h"

namespace svod {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Reads the header, a Python dictionary with three known keys in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  struct Fields {
    std::optional<std::string> descr;
    std::optional<bool> fortranOrder;
    std::optional<std::vector<uint64_t>> shape;
  };

  Result<Fields> parse() {
    Fields fields;
    if (!accept('{')) return bad("the header is not a dictionary");
    while (!accept('}')) {
      SVOD_TRY(std::string key, string());
      if (!accept(':')) return bad("':' expected after '" + key + "'");
      if (key == "descr") {
        SVOD_TRY(fields.descr, string());
      } else if (key == "fortran_order") {
        SVOD_TRY(fields.fortranOrder, boolean());
      } else if (key == "shape") {
        SVOD_TRY(fields.shape, tuple());
      } else {
        return bad("unknown header key '" + key + "'");
      }
      if (!accept(',') && peek() != '}') return bad("',' or '}' expected in the header");
    }
    if (peek() != '\0') return bad("text after the header dictionary");
    if (!fields.descr || !fields.fortranOrder || !fields.shape)
      return bad("the header must have 'descr', 'fortran_order' and 'shape'");
    return fields;
  }

 private:
  tl::unexpected<Error> bad(std::string what) const {
    return fail(Diag::BadNpy, "'" + name_ + "': " + what, "write the file again with numpy.save");
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) at_++;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    at_++;
    return true;
  }
  bool acceptWord(std::string_view word) {
    peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  Result<std::string> string() {
    char quote = peek();
    if (quote == '[' || quote == '(')
      return fail(Diag::BadNpy, "'" + name_ + "': structured arrays are not supported",
                  "save one plain array per file");
    if (quote != '\'' && quote != '"') return bad("a quoted string was expected in the header");
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return bad("a string in the header does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  Result<bool> boolean() {
    if (acceptWord("True")) return true;
    if (acceptWord("False")) return false;
    return bad("'fortran_order' must be True or False");
  }
  Result<std::vector<uint64_t>> tuple() {
    std::vector<uint64_t> dims;
    if (!accept('(')) return bad("'shape' must be a tuple");
    while (!accept(')')) {
      if (peek() < '0' || peek() > '9') return bad("'shape' must hold whole numbers");
      uint64_t dim = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; at_++)
        if (__builtin_mul_overflow(dim, 10, &dim) || __builtin_add_overflow(dim, text_[at_] - '0', &dim))
          return bad("a dimension of 'shape' is too large");
      accept('L');  // Python 2 wrote long integers so
      dims.push_back(dim);
      if (dims.size() > 64) return bad("'shape' has more than 64 dimensions");
      if (!accept(',') && peek() != ')') return bad("',' or ')' expected in 'shape'");
    }
    return dims;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

/// The element type of a descr such as "<f4"; `want` picks among types that share one descr.
Result<ElementType> elementOf(const std::string& descr, std::optional<ElementType> want, const std::string& name) {
  if (descr.size() >= 2 && descr[0] == '>')
    return fail(Diag::BadNpy, "'" + name + "': big-endian data (" + descr + ") is not supported",
                "convert it with array.astype(array.dtype.newbyteorder('<'))");
  std::string kind = descr.substr(descr.empty() ? 0 : (descr[0] == '<' || descr[0] == '|' || descr[0] == '='));
  if (kind == "?") kind = "b1";
  auto matches = [&](const ElementInfo& row) {
    const bool raw = kind[0] == 'V' && (want == ElementType::BF16 || row.npy == "|u1");
    return row.npy.substr(1) == kind ||
           (raw && row.name[0] != 'u' && !isPacked(*want) && kind.substr(1) == std::to_string(row.bits / 8));
  };
  if (want && !kind.empty() && matches(info(*want))) return *want;
  for (size_t i = 0; i < allElementTypes().size(); i++)
    if (const auto type = static_cast<ElementType>(i); !isPacked(type) && info(type).npy.substr(1) == kind) return type;
  return fail(Diag::BadNpy, "'" + name + "': numpy dtype '" + descr + "' is not supported",
              "convert it with astype to bool, int8..int64, uint8..uint64, float16, float32 or float64");
}

/// The header text and where the data begins.
Result<std::pair<std::string_view, uint64_t>> headerText(std::string_view file, const std::string& name) {
  if (!file.starts_with(kMagic))
    return fail(Diag::BadNpy, "'" + name + "' is not a .npy file", "write it with numpy.save");
  const auto truncated = [&] {
    return fail(Diag::BadNpy, "'" + name + "': the header is truncated", "write it again with numpy.save");
  };
  if (file.size() < 10) return truncated();
  const unsigned version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    return fail(Diag::BadNpy, "'" + name + "': .npy version " + std::to_string(version) + " is not supported",
                "write it with a current numpy.save");
  const size_t width = version == 1 ? 2 : 4;
  if (file.size() < 8 + width) return truncated();
  uint64_t length = 0;
  for (size_t i = 0; i < width; i++)
    length |= static_cast<uint64_t>(static_cast<unsigned char>(file[8 + i])) << (8 * i);
  if (length > file.size() - 8 - width) return truncated();
  return std::pair{file.substr(8 + width, length), 8 + width + length};
}

/// Copies a Fortran-order array (first axis fastest) into C order.
void toCOrder(std::span<const std::byte> from, std::span<const uint64_t> shape, size_t size, std::byte* to) {
  std::vector<uint64_t> stride(shape.size(), size), index(shape.size(), 0);
  for (size_t axis = 1; axis < shape.size(); axis++) stride[axis] = stride[axis - 1] * shape[axis - 1];
  uint64_t at = 0;
  for (size_t written = 0; written < from.size(); written += size) {
    std::memcpy(to + written, from.data() + at, size);
    for (size_t axis = shape.size(); axis-- > 0;) {
      at += stride[axis];
      if (++index[axis] < shape[axis]) break;
      at -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

Result<NpyHeader> parseNpy(std::span<const std::byte> file, const std::string& name, std::optional<ElementType> want) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  SVOD_TRY(auto located, headerText(text, name));
  SVOD_TRY(auto fields, HeaderParser(located.first, name).parse());
  NpyHeader header;
  SVOD_TRY(header.dtype, elementOf(*fields.descr, want, name));
  header.fortranOrder = *fields.fortranOrder;
  header.shape = std::move(*fields.shape);
  header.dataOffset = located.second;
  const bool packed = isPacked(header.dtype);  // in memory: the file has a byte for each element
  std::optional<uint64_t> bytes = tensorBytes(packed ? ElementType::U8 : header.dtype, header.shape);
  if (!bytes) return fail(Diag::BadNpy, "'" + name + "': the shape is too large", "write it again with numpy.save");
  header.dataBytes = *bytes;
  const uint64_t have = file.size() - header.dataOffset;
  if (have != *bytes)
    return fail(Diag::BadNpy,
                "'" + name + "': the shape needs " + std::to_string(*bytes) + " bytes of data, the file has " +
                    std::to_string(have),
                have < *bytes ? "the file is truncated; write it again" : "write one array per file with numpy.save");
  return header;
}

namespace {

bool hasSign(ElementType type) { return info(type).npy == "|i1"; }

/// Items of an array in a file as elements of 2 or 4 bits.
Result<std::vector<std::byte>> packItems(ElementType type, std::span<const std::byte> items, const std::string& name) {
  const int bits = info(type).bits;
  std::vector<std::byte> memory = packCodes(bits, items);
  const std::vector<std::byte> back = unpackCodes(bits, hasSign(type), memory, items.size());
  const auto [item, code] = std::ranges::mismatch(items, back);
  if (item == items.end()) return memory;
  const ElementType stored = hasSign(type) ? ElementType::I8 : ElementType::U8;
  return fail(Diag::BadNpy,
              "'" + name + "': item " + std::to_string(item - items.begin()) + " is " + elementText(stored, &*item, 0) +
                  ", which is no " + std::string(nameOf(type)),
              "an array of " + std::string(nameOf(type)) + " has its elements or their bits as whole items");
}

/// The array in `bytes`: in place when it is aligned and in C order, else copied.
Result<NpyArray> arrayIn(std::span<const std::byte> bytes, const std::string& name, std::optional<ElementType> want) {
  SVOD_TRY(NpyHeader header, parseNpy(bytes, name, want));
  NpyArray array;
  array.dtype = header.dtype;
  array.shape = std::move(header.shape);
  array.data = bytes.subspan(header.dataOffset, header.dataBytes);  // items as they are in the file
  const size_t size = byteSize(array.dtype);
  const bool reorder = header.fortranOrder && array.shape.size() > 1;
  const bool inPlace = !reorder && reinterpret_cast<uintptr_t>(array.data.data()) % size == 0;
  if (array.data.empty() || (inPlace && !isPacked(array.dtype))) return array;
  array.owned.resize(array.data.size());
  if (reorder)
    toCOrder(array.data, array.shape, size, array.owned.data());
  else
    std::memcpy(array.owned.data(), array.data.data(), array.data.size());
  if (isPacked(array.dtype)) {
    SVOD_TRY(array.owned, packItems(array.dtype, array.owned, name));
  }
  array.data = array.owned;
  return array;
}

}  // namespace

Result<NpyArray> readNpy(const std::string& path, std::optional<ElementType> want) {
  SVOD_TRY(MappedFile file, MappedFile::open(path));
  SVOD_TRY(NpyArray array, arrayIn(file.bytes(), path, want));
  array.file = std::move(file);
  return array;
}

Result<NpyArray> readNpyBytes(std::span<const std::byte> bytes, const std::string& name,
                              std::optional<ElementType> want) {
  SVOD_TRY(NpyArray array, arrayIn(bytes, name, want));
  if (array.owned.empty()) array.owned.assign(array.data.begin(), array.data.end());
  array.data = array.owned;
  return array;
}

std::string npyHeader(ElementType dtype, std::span<const uint64_t> shape) {
  std::string dict = "{'descr': '" + std::string(info(dtype).npy) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); i++) dict += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  dict += shape.size() == 1 ? ",), }" : "), }";
  size_t prefix = 10;  // magic, version, two bytes of length
  const bool wide = dict.size() > 65000;
  if (wide) prefix = 12;
  dict.append(63 - (prefix + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += wide ? '\2' : '\1';
  header += '\0';
  for (size_t i = 0; i < prefix - 8; i++) header += static_cast<char>(dict.size() >> (8 * i));
  return header + dict;
}

std::vector<std::byte> npyItems(ElementType dtype, std::span<const uint64_t> shape, std::span<const std::byte> data) {
  if (!isPacked(dtype)) return {};
  uint64_t count = 1;
  for (uint64_t dim : shape) count *= dim;
  return unpackCodes(info(dtype).bits, hasSign(dtype), data, count);
}

Status writeNpy(const std::string& path, ElementType dtype, std::span<const uint64_t> shape,
                std::span<const std::byte> data) {
  const std::string header = npyHeader(dtype, shape);
  const std::vector<std::byte> items = npyItems(dtype, shape, data);
  if (!items.empty()) data = items;
  const std::span<const std::byte> chunks[] = {std::as_bytes(std::span(header)), data};
  return writeChunksAtomic(path, chunks, Flush::Sometime);
}

}  // namespace svod
