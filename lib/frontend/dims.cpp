// Dim, Dims and how they are written in messages.
#include <algorithm>

#include "frontend/tensor.h"
#include "ir/shape.h"

namespace svod {

namespace {

using DimFunction = UOp (*)(Graph&, UOp, UOp);

Dim combine(Graph* graph, Dim a, Dim b, DimFunction f) {
  return a && b ? Dim(*graph, f(*graph, a.node(), b.node())) : Dim();
}

UOp foldedAlu(Graph& g, Op op, UOp a, UOp b) {
  if (!a.isConst() || !b.isConst()) return g.alu(op, {a, b});
  Scalar operands[] = {a.constant(), b.constant()};
  return g.constant(evalScalar(op, DType::Index, operands));
}

UOp moduloDims(Graph& g, UOp a, UOp b) { return foldedAlu(g, Op::Floormod, a, b); }

UOp smallerDim(Graph& g, UOp a, UOp b) {
  if (a == b || a.bounds().max <= b.bounds().min) return a;
  return b.bounds().max <= a.bounds().min ? b : foldedAlu(g, Op::Min, a, b);
}

UOp largerDim(Graph& g, UOp a, UOp b) {
  if (a == b || a.bounds().min >= b.bounds().max) return a;
  return b.bounds().min >= a.bounds().max ? b : foldedAlu(g, Op::Max, a, b);
}

}  // namespace

Dim operator+(Dim a, Dim b) { return combine(a.graph_, a, b, addDims); }
Dim operator-(Dim a, Dim b) { return combine(a.graph_, a, b, subDims); }
Dim operator*(Dim a, Dim b) { return combine(a.graph_, a, b, mulDims); }
Dim floordiv(Dim a, Dim b) { return combine(a.graph_, a, b, floordivDims); }
Dim floormod(Dim a, Dim b) { return combine(a.graph_, a, b, moduloDims); }
Dim smaller(Dim a, Dim b) { return combine(a.graph_, a, b, smallerDim); }
Dim larger(Dim a, Dim b) { return combine(a.graph_, a, b, largerDim); }
Dim operator+(Dim a, int64_t b) { return a ? a + Dim(*a.graph_, a.graph_->index(b)) : a; }
Dim operator-(Dim a, int64_t b) { return a ? a - Dim(*a.graph_, a.graph_->index(b)) : a; }
Dim operator*(Dim a, int64_t b) { return a ? a * Dim(*a.graph_, a.graph_->index(b)) : a; }
Dim floordiv(Dim a, int64_t b) { return a ? floordiv(a, Dim(*a.graph_, a.graph_->index(b))) : a; }

Dim Dims::operator[](int axis) const {
  if (axis < 0) axis += rank();
  return axis < 0 || axis >= rank() ? Dim() : dims_[axis];
}

void Dims::set(int axis, Dim dim) {
  if (axis < 0) axis += rank();
  if (axis >= 0 && axis < rank()) dims_[axis] = dim;
}

void Dims::insert(int axis, Dim dim) {
  dims_.insert(dims_.begin() + std::clamp(axis < 0 ? axis + rank() + 1 : axis, 0, rank()), dim);
}

void Dims::erase(int axis) {
  if (axis < 0) axis += rank();
  if (axis >= 0 && axis < rank()) dims_.erase(dims_.begin() + axis);
}

Dims Dims::slice(int begin, int end) const {
  begin = std::clamp(begin, 0, rank());
  return Dims(std::vector<Dim>(dims_.begin() + begin, dims_.begin() + std::clamp(end, begin, rank())));
}

Dims Dims::operator+(const Dims& more) const {
  Dims all = *this;
  all.dims_.insert(all.dims_.end(), more.dims_.begin(), more.dims_.end());
  return all;
}

namespace {

// Precedence: 0 sum, 1 product, 2 atom.
std::string dimText(UOp d, int outer, int depth) {
  if (depth > 40) return "...";
  auto side = [&](size_t i, int precedence) { return dimText(d.src(i), precedence, depth + 1); };
  auto infix = [&](std::string text, int precedence) { return precedence < outer ? "(" + text + ")" : text; };
  switch (d.op()) {
    case Op::Const:
      return std::to_string(d.constInt());
    case Op::Var:
      return std::string(d.argAs<VarArg>().name);
    case Op::Sub:
      return infix(side(0, 0) + " - " + side(1, 1), 0);
    case Op::Add: {
      std::string right = side(1, 0);
      bool negative = right.starts_with("-");
      return infix(side(0, 0) + (negative ? " - " + right.substr(1) : " + " + right), 0);
    }
    case Op::Mul:
      if (d.src(1).isConst(-1)) return "-" + side(0, 1);
      if (d.src(1).isConst() && d.src(1).constInt() < 0)
        return std::to_string(d.src(1).constInt()) + "*" + side(0, 1);
      return infix(side(0, 1) + "*" + side(1, 2), 1);
    case Op::Floordiv:
      return infix(side(0, 1) + "//" + side(1, 2), 1);
    case Op::Floormod:
      return infix(side(0, 1) + "%" + side(1, 2), 1);
    default: {
      std::string text(toText(d.op()));
      for (size_t i = 0; i < d.srcCount(); ++i) text += (i == 0 ? "(" : ", ") + side(i, 0);
      return text + ")";
    }
  }
}

}  // namespace

std::string describe(Dim dim) { return dim ? dimText(dim.node(), 0, 0) : "?"; }

std::string describe(const Dims& dims) {
  std::string text = "[";
  for (const Dim& d : dims) text += (text.size() > 1 ? ", " : "") + describe(d);
  return text + "]";
}

std::string describe(const Tensor& x) {
  if (!x) return "nothing";
  if (x.isLiteral()) return "the number " + toText(x.node().constant());
  std::string text(toText(x.dtype()));
  return x.rank() == 0 ? text : text + describe(x.dims());
}

}  // namespace svod
