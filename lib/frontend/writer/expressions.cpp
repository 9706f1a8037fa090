#include "frontend/writer/expressions.h"

#include <cstring>

#include "frontend/weights.h"
#include "ir/shape.h"
#include "support/packed.h"

namespace svod {

namespace {

struct SizeOp {
  Op op;
  std::string_view text;
  Dim (*apply)(Dim, Dim);
};
constexpr SizeOp kSizeOps[] = {
    {Op::Add, "+", [](Dim a, Dim b) { return a + b; }},
    {Op::Sub, "-", [](Dim a, Dim b) { return a - b; }},
    {Op::Mul, "*", [](Dim a, Dim b) { return a * b; }},
    {Op::Floordiv, "//", [](Dim a, Dim b) { return floordiv(a, b); }},
    {Op::Floormod, "%", [](Dim a, Dim b) { return floormod(a, b); }},
    {Op::Min, "min", [](Dim a, Dim b) { return smaller(a, b); }},
    {Op::Max, "max", [](Dim a, Dim b) { return larger(a, b); }},
};

const SizeOp* findSizeOp(UOp size) {
  for (const SizeOp& row : kSizeOps)
    if (row.op == size.op()) return &row;
  return nullptr;
}

bool isNegative(UOp n) { return n.isConst() && n.constInt() < 0 && n.constInt() != INT64_MIN; }

// a + b*-3 is written a - b*3.
std::optional<GraphExpr> differenceExpr(UOp sum, const SizeNames& names) {
  UOp b = sum.src(1);
  GraphExpr taken;
  if (isNegative(b)) {
    taken = GraphExpr::ofInt(-b.constInt());
  } else if (b.op() == Op::Mul && isNegative(b.src(1))) {
    std::optional<GraphExpr> factor = sizeExpr(b.src(0), names);
    if (!factor) return std::nullopt;
    taken = std::move(*factor);
    if (!b.src(1).isConst(-1))
      taken = GraphExpr::binary(std::move(taken), {"*", {}}, GraphExpr::ofInt(-b.src(1).constInt()));
  } else {
    return std::nullopt;
  }
  std::optional<GraphExpr> a = sizeExpr(sum.src(0), names);
  if (!a) return std::nullopt;
  return GraphExpr::binary(std::move(*a), {"-", {}}, std::move(taken));
}

bool isLeaf(UOp n) { return n.isConst() || n.op() == Op::Var || n.op() == Op::Range; }

// Whether the node is an expression of sizes, and not a huge one.
bool isSize(UOp n, int& budget) {
  if (n.dtype() != DType::Index || n.rank() != 0 || --budget < 0) return false;
  return isLeaf(n) || (findSizeOp(n) && isSize(n.src(0), budget) && isSize(n.src(1), budget));
}

Dim readBack(Graph& g, UOp size) {
  if (isLeaf(size)) return Dim(g, size);
  const SizeOp* row = findSizeOp(size);
  Dim a = readBack(g, size.src(0)), b = readBack(g, size.src(1));
  bool divides = row->op == Op::Floordiv || row->op == Op::Floormod;
  return divides && b.min() <= 0 ? Dim() : row->apply(a, b);
}

}  // namespace

std::optional<GraphExpr> sizeExpr(UOp size, const SizeNames& names) {
  if (size.isConst()) return GraphExpr::ofInt(size.constInt());
  if (size.op() == Op::Var || size.op() == Op::Range) return GraphExpr::name(names(size));
  const SizeOp* row = findSizeOp(size);
  if (!row || size.dtype() != DType::Index) return std::nullopt;
  if (row->op == Op::Add)
    if (std::optional<GraphExpr> difference = differenceExpr(size, names)) return difference;
  std::optional<GraphExpr> a = sizeExpr(size.src(0), names), b = sizeExpr(size.src(1), names);
  if (!a || !b) return std::nullopt;
  if (isOperator(row->text, 2)) return GraphExpr::binary(std::move(*a), {std::string(row->text), {}}, std::move(*b));
  return GraphExpr::call(std::string(row->text), {std::move(*a), std::move(*b)});
}

bool isWrittenSize(Graph& graph, UOp size) {
  int budget = 1000;
  return isSize(size, budget) && readBack(graph, size).node() == size;
}

GraphExpr numberExpr(const Scalar& value) {
  if (value.dtype() == DType::Bool) return GraphExpr::ofBool(value.asInt() != 0);
  if (isFloat(value.dtype())) {
    // The shortest text of the number in its own dtype, such as 0.1 of an f32.
    double shortest = std::strtod(toText(value).c_str(), nullptr);
    bool isSame = Scalar::ofFloat(value.dtype(), shortest) == value;
    return GraphExpr::ofFloat(isSame ? shortest : value.asFloat());
  }
  GraphExpr e = GraphExpr::ofInt(value.asInt());
  e.isBig = value.dtype() == DType::U64 && value.asInt() < 0;
  return e;
}

GraphExpr constantExpr(const Scalar& value) {
  bool isIndex = value.dtype() == DType::Index;
  GraphExpr e = GraphExpr::call(isIndex ? "index" : "cast", {});
  if (isIndex) {
    e.attributes.push_back({"of", numberExpr(value), {}});
  } else {
    e.items.push_back(numberExpr(value));
    e.attributes.push_back({"dtype", GraphExpr::name(std::string(toText(value.dtype()))), {}});
  }
  e.depth = 2;
  return e;
}

std::optional<GraphExpr> attributeExpr(const AttributeValue& value, const SizeNames& names) {
  struct Visitor {
    const SizeNames& names;
    using Written = std::optional<GraphExpr>;
    Written operator()(int64_t x) const { return GraphExpr::ofInt(x); }
    Written operator()(double x) const { return GraphExpr::ofFloat(x); }
    Written operator()(bool x) const { return GraphExpr::ofBool(x); }
    Written operator()(const std::string& x) const {
      return writeName(x) == x ? GraphExpr::name(x) : GraphExpr::string(x);
    }
    Written operator()(DType x) const { return GraphExpr::name(std::string(toText(x))); }
    Written operator()(Dim x) const { return sizeExpr(x.node(), names); }
    Written operator()(const AttributeValue::List& list) const {
      std::vector<GraphExpr> items;
      for (const AttributeValue& item : list) {
        Written written = attributeExpr(item, names);
        if (!written) return std::nullopt;
        items.push_back(std::move(*written));
      }
      return GraphExpr::list(std::move(items));
    }
  };
  return std::visit(Visitor{names}, value.value);
}

namespace {

GraphExpr listOf(DType dtype, const std::vector<int64_t>& dims, size_t axis, const std::byte*& data) {
  if (axis == dims.size()) {
    uint64_t bits = 0;
    std::memcpy(&bits, data, static_cast<size_t>(byteSize(dtype)));
    data += byteSize(dtype);
    return numberExpr(Scalar::fromBits(dtype, bits));
  }
  std::vector<GraphExpr> items;
  for (int64_t i = 0; i < dims[axis]; ++i) items.push_back(listOf(dtype, dims, axis + 1, data));
  return GraphExpr::list(std::move(items));
}

}  // namespace

std::optional<GraphExpr> inlineData(DType dtype, const std::vector<int64_t>& dims, const ConstData& data) {
  constexpr int64_t kMostElements = 16;
  if (data.bytes > static_cast<size_t>(memoryBytes(dtype, kMostElements))) return std::nullopt;
  if (data.bytes == 0) return GraphExpr::name("zeros");
  std::vector<std::byte> codes;  // of elements that share bytes
  const auto perByte = static_cast<size_t>(elementsPerByte(dtype));
  if (isPacked(dtype)) codes = unpackCodes(info(dtype).bits, false, {data.data, data.bytes}, data.bytes * perByte);
  const std::byte* next = isPacked(dtype) ? codes.data() : data.data;
  GraphExpr list = listOf(dtype, dims, 0, next);
  Result<ConstData> read = WeightLoader("").load(list, dtype, dims);
  bool isSame = read && read->bytes == data.bytes && std::memcmp(read->data, data.data, data.bytes) == 0;
  if (!isSame) return std::nullopt;
  return list;
}

}  // namespace svod
