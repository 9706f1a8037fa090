#include "ir/graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ir/bounds.h"
#include "ir/shape.h"

namespace svod {

namespace {

// Two independent 64-bit lanes of multiply-xorshift mixing.
struct Hasher {
  uint64_t hi = 0x9E3779B97F4A7C15u, lo = 0xD1B54A32D192ED03u;
  void add(uint64_t v) {
    lo = (lo ^ v) * 0xFF51AFD7ED558CCDu;
    lo ^= lo >> 32;
    hi = (hi + v) * 0xC4CEB9FE1A85EC53u;
    hi ^= hi >> 29;
    hi += lo;
  }
  void add(std::string_view text) {
    add(text.size());
    for (unsigned char c : text) add(c);
  }
};

// FNV-1a; the names of ops and dtypes are hashed once, when this file is compiled.
constexpr uint64_t hashText(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}
constexpr uint64_t kOpHash[] = {
#define OP(name, text, min, max, arg, stages, traits, what) hashText(text),
#include "ir/ops.def"
#undef OP
};
constexpr uint64_t kDTypeHash[] = {
#define DTYPE(name, text, bits, kind, fraction, specials, what) hashText(text),
#include "ir/dtypes.def"
#undef DTYPE
};

void hashArg(Hasher& h, const Arg& arg) {
  h.add(arg.index());
  struct Visitor {
    Hasher& h;
    void operator()(std::monostate) const {}
    void operator()(const Scalar& s) const { h.add(s.raw()); }
    void operator()(const SlotArg& a) const {
      h.add(a.slot), h.add(toText(a.space));
      if (a.swizzle != 0 || a.ring != 0) h.add(a.swizzle), h.add(a.ring);
    }
    void operator()(const VarArg& a) const {
      h.add(a.name), h.add(a.min), h.add(a.max);
      if (a.likely != usualSize({a.min, a.max})) h.add(a.likely);
    }
    void operator()(const AxisArg& a) const { h.add(a.id), h.add(toText(a.type)); }
    void operator()(const AxesArg& a) const {
      for (int32_t x : a.axes) h.add(x);
    }
    void operator()(const ReduceArg& a) const {
      h.add(toText(a.op));
      for (int32_t x : a.axes) h.add(x);
    }
    void operator()(const NameArg& a) const { h.add(a.name); }
    void operator()(const CustomArg& a) const { h.add(a.name), h.add(a.inputs); }
  };
  std::visit(Visitor{h}, arg);
}

Hash128 hashNode(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  Hasher h;
  h.add(kOpHash[static_cast<size_t>(op)]);
  h.add(kDTypeHash[static_cast<size_t>(dtype)]);
  hashArg(h, arg);
  for (UOp s : src) h.add(s.hash().lo), h.add(s.hash().hi);
  h.add(src.size());
  return {h.hi, h.lo};
}

Arg ownArg(Arena& arena, const Arg& arg) {
  Arg owned = arg;
  if (auto* a = std::get_if<VarArg>(&owned)) a->name = arena.copy(a->name);
  if (auto* a = std::get_if<AxesArg>(&owned)) a->axes = arena.copy(a->axes);
  if (auto* a = std::get_if<ReduceArg>(&owned)) a->axes = arena.copy(a->axes);
  if (auto* a = std::get_if<NameArg>(&owned)) a->name = arena.copy(a->name);
  if (auto* a = std::get_if<CustomArg>(&owned)) a->name = arena.copy(a->name);
  return owned;
}

bool rangeLess(UOp a, UOp b) {
  uint32_t x = a.argAs<AxisArg>().id, y = b.argAs<AxisArg>().id;
  return x != y ? x < y : structuralLess(a, b);
}

bool endsRanges(Op op) { return op == Op::End || op == Op::Reduce || op == Op::Fill; }

// Ranges open at a node: those of its sources, less the ones it closes. Reuses a source's span when nothing is added.
std::span<const UOp> openRanges(Arena& arena, Op op, std::span<const UOp> src) {
  std::vector<UOp> all;
  std::span<const UOp> last;
  for (UOp s : src) {
    if (s.ranges().empty() || (s.ranges().data() == last.data() && s.ranges().size() == last.size())) continue;
    last = s.ranges();
    all.insert(all.end(), last.begin(), last.end());
  }
  if (all.empty()) return {};
  std::sort(all.begin(), all.end(), rangeLess);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (endsRanges(op)) std::erase_if(all, [&](UOp r) { return std::find(src.begin() + 1, src.end(), r) != src.end(); });
  for (UOp s : src)
    if (std::ranges::equal(s.ranges(), all)) return s.ranges();
  return arena.copy(std::span<const UOp>(all));
}

[[noreturn]] void die(Op op, const char* why) {
  std::fprintf(stderr, "internal error: op %.*s: %s\n", static_cast<int>(toText(op).size()), toText(op).data(), why);
  std::abort();
}

void requireWellFormed(Op op, std::span<const UOp> src) {
  if (static_cast<int>(src.size()) < info(op).minSrc || static_cast<int>(src.size()) > info(op).maxSrc)
    die(op, "wrong number of sources");
  for (UOp s : src)
    if (!s) die(op, "null source");
}

}  // namespace

Graph::Graph() : table_(1024, 0) {}

UOp Graph::find(const Node& key) const {
  size_t mask = table_.size() - 1;
  for (size_t i = key.hash.lo & mask; table_[i] != 0; i = (i + 1) & mask) {
    const Node* n = nodes_[table_[i] - 1];
    if (n->hash == key.hash && n->op == key.op && n->dtype == key.dtype && n->arg == key.arg &&
        std::ranges::equal(n->src, key.src))
      return UOp(n);
  }
  return {};
}

void Graph::insert(const Node* node) {
  nodes_.push_back(node);
  if (nodes_.size() * 2 > table_.size()) {
    table_.assign(table_.size() * 2, 0);
    size_t mask = table_.size() - 1;
    for (const Node* n : nodes_) {
      size_t i = n->hash.lo & mask;
      while (table_[i] != 0) i = (i + 1) & mask;
      table_[i] = n->id + 1;
    }
    return;
  }
  size_t mask = table_.size() - 1, i = node->hash.lo & mask;
  while (table_[i] != 0) i = (i + 1) & mask;
  table_[i] = node->id + 1;
}

UOp Graph::make(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  requireWellFormed(op, src);
  Node key{op, dtype, 0, 0, hashNode(op, dtype, src, arg), src, {}, {}, {}, arg};
  if (UOp existing = find(key)) return existing;

  std::vector<UOp> shape = inferShape(*this, op, src, arg);
  key.src = arena_.copy(src);
  key.arg = ownArg(arena_, arg);
  key.shape = arena_.copy(std::span<const UOp>(shape));
  for (UOp s : src) key.childOps |= uint64_t{1} << (static_cast<unsigned>(s.op()) % 64);
  key.bounds = computeBounds(op, dtype, src, arg);
  key.id = static_cast<uint32_t>(nodes_.size());
  auto* node = new (arena_.allocate(sizeof(Node), alignof(Node))) Node(key);
  node->ranges = openRanges(arena_, op, src);
  if (op == Op::Range) {
    std::vector<UOp> withSelf(node->ranges.begin(), node->ranges.end());
    withSelf.insert(std::ranges::upper_bound(withSelf, UOp(node), rangeLess), UOp(node));
    node->ranges = arena_.copy(std::span<const UOp>(withSelf));
  }
  insert(node);
  return UOp(node);
}

UOp Graph::constant(Scalar value) { return make(Op::Const, value.dtype(), std::span<const UOp>{}, value); }

UOp Graph::variable(std::string_view name, Interval bounds, int64_t likely) {
  return make(Op::Var, DType::Index, std::span<const UOp>{}, VarArg{name, bounds.min, bounds.max, likely});
}

UOp Graph::variable(std::string_view name, int64_t min, int64_t max) {
  return make(Op::Var, DType::Index, std::span<const UOp>{}, VarArg{name, min, max});
}

UOp Graph::range(UOp end, uint32_t id, AxisType type) {
  return make(Op::Range, DType::Index, {end}, AxisArg{id, type});
}

UOp Graph::alu(Op op, std::span<const UOp> src) {
  DType dtype = has(op, Comparison) ? DType::Bool : src[op == Op::Where ? 1 : 0].dtype();
  return make(op, dtype, src);
}

namespace {
std::vector<UOp> join(UOp first, std::span<const UOp> a, std::span<const UOp> b = {}) {
  std::vector<UOp> all{first};
  all.insert(all.end(), a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}
}  // namespace

UOp Graph::reshape(UOp x, std::span<const UOp> dims) {
  return std::ranges::equal(x.shape(), dims) ? x : make(Op::Reshape, x.dtype(), join(x, dims));
}
UOp Graph::expand(UOp x, std::span<const UOp> dims) {
  return std::ranges::equal(x.shape(), dims) ? x : make(Op::Expand, x.dtype(), join(x, dims));
}
UOp Graph::permute(UOp x, std::span<const int32_t> order) {
  bool same = true;
  for (size_t i = 0; i < order.size(); ++i) same &= order[i] == static_cast<int32_t>(i);
  return same ? x : make(Op::Permute, x.dtype(), {x}, AxesArg{order});
}
UOp Graph::pad(UOp x, UOp fill, std::span<const UOp> before, std::span<const UOp> after) {
  auto zero = [](UOp d) { return d.isConst(0); };
  if (std::ranges::all_of(before, zero) && std::ranges::all_of(after, zero)) return x;
  std::vector<UOp> src = join(x, {&fill, 1}, before);
  src.insert(src.end(), after.begin(), after.end());
  return make(Op::Pad, x.dtype(), src);
}
UOp Graph::shrink(UOp x, std::span<const UOp> offsets, std::span<const UOp> sizes) {
  const bool isAtStart = std::ranges::all_of(offsets, [](UOp d) { return d.isConst(0); });
  if (isAtStart && std::ranges::equal(x.shape(), sizes)) return x;
  return make(Op::Shrink, x.dtype(), join(x, offsets, sizes));
}
UOp Graph::flip(UOp x, std::span<const int32_t> axes) {
  return axes.empty() ? x : make(Op::Flip, x.dtype(), {x}, AxesArg{axes});
}
UOp Graph::reduce(Op op, UOp x, std::span<const int32_t> axes) {
  return axes.empty() ? x : make(Op::Reduce, x.dtype(), {x}, ReduceArg{op, axes});
}
UOp Graph::reduceRanges(Op op, UOp x, std::span<const UOp> ranges) {
  return make(Op::Reduce, x.dtype(), join(x, ranges), ReduceArg{op, {}});
}
UOp Graph::indexInto(UOp storage, std::span<const UOp> indices) {
  return make(Op::Index, storage.dtype(), join(storage, indices));
}

UOp Graph::fill(UOp value, std::span<const UOp> ranges, uint32_t slot) {
  int64_t elements = 1;
  for (UOp r : ranges) elements *= std::max<int64_t>(r.src(0).bounds().max, 0);
  UOp size = index(elements), storage = buffer(value.dtype(), {&size, 1}, {slot, Space::Local});
  UOp store = make(Op::Store, DType::Void, {indexRowMajor(storage, ranges, ranges), value});
  return make(Op::Fill, value.dtype(), join(store, ranges), ReduceArg{Op::Store, {}});
}
UOp Graph::accumulator(Op op, UOp value, std::span<const UOp> over, std::span<const UOp> ranges, uint32_t slot) {
  UOp plain = fill(value, ranges, slot);
  std::vector<UOp> src{plain.src(0)};
  src.insert(src.end(), over.begin(), over.end());
  src.insert(src.end(), ranges.begin(), ranges.end());
  return make(Op::Fill, value.dtype(), src, ReduceArg{op, {}});
}
UOp Graph::indexRowMajor(UOp storage, std::span<const UOp> ranges, std::span<const UOp> at) {
  UOp flat = index(0);
  int64_t stride = 1;
  for (size_t i = ranges.size(); i-- > 0;) {
    UOp part = stride == 1 ? at[i] : alu(Op::Mul, {at[i], index(stride)});
    flat = flat.isConst(0) ? part : alu(Op::Add, {part, flat});
    stride *= std::max<int64_t>(ranges[i].src(0).bounds().max, 0);
  }
  return indexInto(storage, {&flat, 1});
}

UOp Graph::clone(UOp root) {
  std::vector<UOp> order = toposort(root), src;
  uint32_t largest = 0;
  for (UOp n : order) largest = std::max(largest, n.id());
  std::vector<UOp> copyOf(largest + 1);
  for (UOp n : order) {
    src.clear();
    for (UOp s : n.src()) src.push_back(copyOf[s.id()]);
    copyOf[n.id()] = make(n.op(), n.dtype(), src, n.arg());
  }
  return copyOf[root.id()];
}

}  // namespace svod
