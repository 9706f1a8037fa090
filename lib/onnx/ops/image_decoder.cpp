// Pictures in files, where the file holds them as they are: BMP, PNM and TIFF without compression. Every format says
// where the rows lie and what a pixel is; the file says in a run which format it is.
#include <array>
#include <numeric>

#include "onnx/ops/common.h"

namespace svod {

namespace {

/// What a file says, each an i64 scalar. Addresses are bytes from the begin of the file.
enum Field {
  kIsMeant,    // 1 where the file has this format
  kIsHandled,  // 1 where it has a form of it that is read here
  kHeight,
  kWidth,
  kStart,      // of the first row in the file, where no table says it
  kStride,     // from row to row
  kIsUpward,   // 1: the first row in the file is the lowest of the picture
  kBits,       // of a pixel
  kOrder,      // of the samples of a pixel
  kPalette,    // address of the colors, each blue, green, red, 0
  kMost,       // the sample that is full intensity
  kIsInverse,  // 1: 0 is full intensity
  kStripRows,  // rows that lie one behind the other
  kStrips,     // address of a table with the address of every strip, or 0
  kStripSize,  // bytes of an entry of this table
  kIsBig,      // 1: the most significant byte of a number comes first
  kFieldCount
};
constexpr int64_t kRgb = 0, kBgr = 1, kGrey = 2, kIndexed = 3;
using Fields = std::array<Tensor, kFieldCount>;

// PNM headers are texts with comments.
constexpr int64_t kLongestHeader = 1024;
constexpr int64_t kMostDigits = 9;
// Of the first directory of a TIFF.
constexpr int64_t kMostTags = 64;
// Of a picture whose size only a run knows.
constexpr int64_t kLongestSide = 4096;

class File {
 public:
  explicit File(OnnxNode& node) : n(node), data_(node.arg(0)) {}

  /// The bytes at addresses; 0 outside.
  Tensor at(Tensor address) { return cast(gather(data_, {&address, 1}), DType::I64); }
  Tensor number(Operand address, int bytes, Tensor isBig) {
    Tensor little, big, from = address.in(n.b);
    for (int i = 0; i < bytes; ++i) {
      Tensor b = at(cast(from + i, DType::I64));
      little = i == 0 ? b : little + b * (int64_t{1} << 8 * i);
      big = i == 0 ? b : big * 256 + b;
    }
    return isBig ? where(isBig, big, little) : little;
  }
  Tensor begins(std::string_view magic, int64_t from = 0) {
    Tensor all = svod::number(n, 1);
    for (char c : magic) all = all * cast(eq(at(svod::number(n, from++)), static_cast<uint8_t>(c)), DType::I64);
    return eq(all, 1);
  }
  Fields bmp();
  Fields pnm();
  Fields tiff();
  /// The address of every row.
  Tensor rows(const Fields& f, Dim height);

  OnnxNode& n;

 private:
  Fields none() {
    Fields f;
    f.fill(svod::number(n, 0));
    f[kMost] = svod::number(n, 255), f[kStripRows] = svod::number(n, 1), f[kStripSize] = svod::number(n, 4);
    return f;
  }
  Tensor yes(Tensor condition) { return cast(condition, DType::I64); }
  Tensor data_;
};

Tensor oneOf(Tensor x, std::initializer_list<int64_t> values) {
  Tensor any;
  for (int64_t v : values) any = any ? either(any, eq(x, v)) : eq(x, v);
  return any;
}

Fields File::bmp() {
  Fields f = none();
  Tensor size = number(14, 4, {}), width = number(18, 4, {}), height = number(22, 4, {}), bits = number(28, 2, {});
  Tensor isUpward = lt(height, int64_t{1} << 31);  // the height is signed
  Tensor packing = number(30, 4, {}), isPlain = eq(packing, 0);
  // Masks that say the usual order.
  Tensor isMasked =
      both(both(eq(packing, 3), eq(bits, 32)),
           both(eq(number(54, 4, {}), 0xff0000), both(eq(number(58, 4, {}), 0xff00), eq(number(62, 4, {}), 0xff))));
  f[kIsMeant] = yes(begins("BM"));
  f[kIsHandled] = yes(both(ge(size, 40), both(either(isPlain, isMasked), oneOf(bits, {1, 4, 8, 24, 32}))));
  f[kHeight] = where(isUpward, height, (int64_t{1} << 32) - height), f[kWidth] = width;
  f[kStart] = number(10, 4, {}), f[kBits] = bits, f[kIsUpward] = yes(isUpward);
  f[kStride] = floordiv(width * bits + 31, 32) * 4, f[kStripRows] = max(f[kHeight], 1);
  f[kOrder] = where(le(bits, 8), svod::number(n, kIndexed), kBgr), f[kPalette] = size + 14;
  return f;
}

// "P6 WIDTH HEIGHT MOST" and one white space; a comment goes from # to the end of its line.
Fields File::pnm() {
  Fields f = none();
  Tensor place = cast(n.b.iota(n.b.dim(kLongestHeader)), DType::I64), text = at(place);
  auto latest = [&](Tensor isHere) { return n.call("cummax", {where(isHere, place, -1)}, {{"axis", 0}}); };
  Tensor isComment = contiguous(gt(latest(eq(text, '#')), latest(oneOf(text, {'\n', '\r'}))));
  Tensor isDigit = both(both(ge(text, '0'), le(text, '9')), both(negated(isComment), ge(place, 2)));
  isDigit = contiguous(yes(isDigit));
  Tensor before = pad(isDigit, {n.b.dim(1)}, {n.b.dim(0)}, 0);
  Tensor begins0 = both(ne(isDigit, 0), eq(narrow(before, 0, n.b.dim(0), n.b.dim(kLongestHeader)), 0));
  Tensor token = contiguous(n.call("cumsum", {yes(begins0)}, {{"axis", 0}}));
  Tensor counted = contiguous(n.call("cumsum", {isDigit}, {{"axis", 0}}));
  std::vector<double> powers(kMostDigits, 1);
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  Tensor power = constantOf(n, DType::I64, {kMostDigits}, powers), isShort = svod::number(n, 1);
  std::array<Tensor, 3> values;
  Tensor end;
  for (int64_t k = 0; k < 3; ++k) {
    Tensor isHere = both(eq(token, k + 1), ne(isDigit, 0));
    Tensor last = maximum(where(isHere, counted, 0), 0), behind = last - counted;
    Tensor weight = gather(power, {&behind, 1});
    values[static_cast<size_t>(k)] = sum(where(isHere, (text - '0') * weight, 0), 0);
    isShort = isShort * yes(le(sum(yes(isHere), 0), kMostDigits));
    end = maximum(where(isHere, place, -1), 0);
  }
  Tensor isColor = begins("P6"), most = values[2];
  Tensor fits =
      both(both(ne(isShort, 0), ge(end, 0)), both(lt(end, kLongestHeader - 1), both(ge(most, 1), le(most, 255))));
  f[kIsMeant] = yes(either(isColor, begins("P5")));
  f[kIsHandled] = yes(fits), f[kWidth] = values[0], f[kHeight] = values[1], f[kMost] = most;
  f[kStart] = end + 2, f[kBits] = where(isColor, svod::number(n, 24), 8),
  f[kStride] = floordiv(values[0] * f[kBits], 8);
  f[kOrder] = where(isColor, svod::number(n, kRgb), kGrey), f[kStripRows] = max(values[1], 1);
  return f;
}

// The first directory: entries of a tag, a type (3: two bytes, 4: four), a count, and the value or where the values
// are.
Fields File::tiff() {
  Fields f = none();
  using namespace std::string_view_literals;
  Tensor isBig = begins("MM\0*"sv);
  Tensor directory = number(4, 4, isBig), count = number(directory, 2, isBig);
  Tensor i = cast(n.b.iota(n.b.dim(kMostTags)), DType::I64), entry = directory + 2 + i * 12;
  Tensor tag = contiguous(where(lt(i, count), number(entry, 2, isBig), -1)), type = number(entry + 2, 2, isBig);
  Tensor amount = contiguous(number(entry + 4, 4, isBig));
  Tensor width = where(eq(type, 3), svod::number(n, 2), 4);
  Tensor inside = where(eq(type, 3), number(entry + 8, 2, isBig), number(entry + 8, 4, isBig));
  Tensor value = contiguous(where(le(amount * width, 4), inside, number(entry + 8, 4, isBig)));
  auto find = [&](int64_t wanted, Tensor of, Operand absent) {
    Tensor isHere = eq(tag, wanted);
    return where(eq(sum(yes(isHere), 0), 0), absent, sum(where(isHere, of, 0), 0));
  };
  Tensor samples = find(277, value, 1), photometric = find(262, value, 1), strips = find(273, amount, 0);
  // Three numbers of bits do not fit the entry.
  Tensor bitCount = find(258, amount, 1), bitValue = find(258, value, 1);
  Tensor bits = where(gt(bitCount, 2), number(bitValue, 2, isBig), bitValue);
  Tensor isGrey = both(eq(samples, 1), le(photometric, 1)), isColor = both(oneOf(samples, {3, 4}), eq(photometric, 2));
  Tensor isPlain = both(eq(find(259, value, 1), 1), either(eq(find(284, value, 1), 1), eq(samples, 1)));
  Tensor stripSize = find(273, where(eq(type, 3), svod::number(n, 2), 4), 4);
  // Strips that fit their entry lie in it.
  Tensor isInside = le(strips * stripSize, 4), here = find(273, entry + 8, 0);
  f[kIsMeant] = yes(either(isBig, begins("II*\0"sv)));
  f[kIsHandled] = yes(both(both(eq(bits, 8), isPlain), both(either(isGrey, isColor), ge(strips, 1))));
  f[kHeight] = find(257, value, 0), f[kWidth] = find(256, value, 0);
  f[kStripRows] = max(min(find(278, value, int64_t{1} << 32), f[kHeight]), 1);
  f[kStrips] = where(isInside, here, find(273, value, 0)), f[kStripSize] = stripSize, f[kIsBig] = yes(isBig);
  f[kBits] = samples * 8, f[kStride] = f[kWidth] * samples, f[kIsInverse] = yes(eq(photometric, 0));
  f[kOrder] = where(isGrey, svod::number(n, kGrey), kRgb);
  return f;
}

Tensor File::rows(const Fields& f, Dim height) {
  Tensor y = cast(n.b.iota(height), DType::I64);
  Tensor row = where(ne(f[kIsUpward], 0), f[kHeight] - 1 - y, y), strip = floordiv(row, f[kStripRows]);
  Tensor entry = f[kStrips] + strip * f[kStripSize], isBig = ne(f[kIsBig], 0);
  Tensor listed = where(eq(f[kStripSize], 2), number(entry, 2, isBig), number(entry, 4, isBig));
  return contiguous(where(ne(f[kStrips], 0), listed, f[kStart]) + floormod(row, f[kStripRows]) * f[kStride]);
}

// The fields of the format that the file has, computed once.
Fields chosen(OnnxNode& n, const std::vector<Fields>& formats) {
  Fields f = formats[0];
  for (size_t i = 1; i < formats.size(); ++i)
    for (size_t k = 0; k < f.size(); ++k) f[k] = where(ne(formats[i][kIsMeant], 0), formats[i][k], f[k]);
  f[kHeight] = where(ne(f[kIsMeant], 0), f[kHeight], 0), f[kWidth] = where(ne(f[kIsMeant], 0), f[kWidth], 0);
  Tensor all = contiguous(n.call("vector", f));
  for (size_t k = 0; k < f.size(); ++k) f[k] = squeeze(narrow(all, 0, n.b.dim(static_cast<int64_t>(k)), n.b.dim(1)), 0);
  return f;
}

/// Formats with compression.
struct Compressed {
  std::string_view name, magic;
  int64_t at = 0;
};
using namespace std::string_view_literals;
constexpr Compressed kCompressed[] = {{"JPEG", "\xff\xd8\xff"},
                                      {"PNG", "\x89PNG"},
                                      {"WebP", "WEBP", 8},
                                      {"JPEG 2000", "\0\0\0\x0cjP"sv},
                                      {"JPEG 2000 without its box", "\xff\x4f\xff\x51"},
                                      {"GIF", "GIF8"}};

void expect(OnnxNode& n, ExpectationKind kind, Tensor holds, std::string text) {
  n.b.expect(cast(holds, DType::I64), number(n, 1), "ImageDecoder: " + std::move(text), kind);
}

// The run ends with a text that says what the file is, unless it is handled here.
void expectHandled(File& file, const Fields& f) {
  OnnxNode& n = file.n;
  Tensor isNamed = n.b.literal(false);
  for (const Compressed& c : kCompressed) {
    Tensor isHere = file.begins(c.magic, c.at);
    isNamed = either(isNamed, isHere);
    expect(n, ExpectationKind::Supported, eq(isHere, false),
           "the picture is " + std::string(c.name) +
               ", which a plan does not decode; give it as BMP, PNM or TIFF without compression");
  }
  Tensor isHandled = both(ne(f[kIsMeant], 0), ne(f[kIsHandled], 0));
  expect(n, ExpectationKind::Supported, either(isNamed, isHandled),
         "the data is no BMP, PNM (P5, P6) or TIFF without compression, with 8 bits per sample");
}

// Levels 0 to 255 of samples 0 to 255.
Tensor levelsOf(OnnxNode& n, const Fields& f) {
  Tensor sample = cast(n.b.iota(n.b.dim(256)), DType::F64);
  Tensor level = cast(min(n.call("round", {sample / cast(max(f[kMost], 1), DType::F64) * 255.0}), 255.0), DType::I64);
  return contiguous(where(ne(f[kIsInverse], 0), 255 - level, level));
}

}  // namespace

// [height, width, channels]
Results onnxImageDecoder(OnnxNode& n) {
  const std::string format = n.word("pixel_format");
  if (!n.require(n.arg(0).rank() == 1 && n.arg(0).dtype() == DType::U8, "the file is a vector of bytes") ||
      !n.require(format == "RGB" || format == "BGR" || format == "Grayscale",
                 "'pixel_format' is RGB, BGR or Grayscale"))
    return Tensor();
  File file(n);
  const Fields f = chosen(n, {file.bmp(), file.pnm(), file.tiff()});
  if (n.b.failed()) return Tensor();
  expectHandled(file, f);
  const int channels = format == "Grayscale" ? 1 : 3;
  Dims dims;
  if (std::optional<Dims> declared = n.declared(0)) {
    if (!n.require(declared->rank() == 3 && (*declared)[2].is(channels), "the result is [height, width, channels]"))
      return Tensor();
    dims = *declared;
    const Tensor isMeant = ne(f[kIsMeant], 0), wanted = n.sizesTensor(dims.slice(0, 2));
    n.expect({0}, where(isMeant, n.call("vector", {f[kHeight], f[kWidth]}), wanted), dims.slice(0, 2));
  } else {
    const Dim room = smaller(n.arg(0).dim(0), n.b.dim(kLongestSide));
    const Tensor most = cast(n.b.value(room), DType::I64);
    expect(n, ExpectationKind::Supported, both(le(f[kHeight], most), le(f[kWidth], most)),
           "the picture is longer than 4096 pixels; declare the shape of the result when compiling");
    for (Field side : {kHeight, kWidth}) dims.add(n.length(max(min(f[side], most), 0), room));
    dims.add(n.b.dim(channels));
  }
  if (n.b.failed()) return Tensor();
  Tensor row = file.rows(f, dims[0]), size = cast(n.b.value(n.arg(0).dim(0)), DType::I64);
  Tensor ends = max(row + floordiv(f[kWidth] * f[kBits] + 7, 8) - size, 0);
  expect(n, ExpectationKind::Valid, eq(sum(where(ne(f[kIsHandled], 0), ends, 0), 0), 0),
         "the data ends before the picture does");

  // Where a pixel is; of one with fewer than 8 bits, which bits of the byte.
  Tensor bit = cast(n.b.iota(dims[1]), DType::I64) * f[kBits];
  Tensor address = unsqueeze(row, 1) + floordiv(bit, 8), byte = file.at(address);
  Tensor shift = 8 - min(f[kBits], 8) - floormod(bit, 8), bits = min(f[kBits], 8);
  Tensor powers = constantOf(n, DType::I64, {9}, {1, 2, 4, 8, 16, 32, 64, 128, 256});
  Tensor color = floormod(floordiv(byte, gather(powers, {&shift, 1})), gather(powers, {&bits, 1}));
  Tensor levels = levelsOf(n, f), isIndexed = eq(f[kOrder], kIndexed);
  auto sample = [&](int64_t c) {  // 0 red, 1 green, 2 blue
    Tensor place = where(eq(f[kOrder], kRgb), number(n, c), where(eq(f[kOrder], kBgr), number(n, 2 - c), 0));
    Tensor value = file.at(where(isIndexed, f[kPalette] + color * 4 + (2 - c), address + place));
    return gather(levels, {&value, 1});
  };
  std::vector<Tensor> planes = {sample(0), sample(1), sample(2)};
  if (format == "BGR") std::swap(planes[0], planes[2]);
  if (format == "Grayscale")  // as ITU-R 601-2 says, rounded
    planes = {floordiv(planes[0] * 19595 + planes[1] * 38470 + planes[2] * 7471 + 0x8000, 65536)};
  return cast(n.call("stack", planes, {{"axis", 2}}), DType::U8);
}

}  // namespace svod
