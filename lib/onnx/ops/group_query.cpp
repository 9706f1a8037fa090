// Attention whose keys and values lie in a cache [batch, heads, room, size]: every sequence of the batch continues at a
// place of its own, known only in a run.
#include <algorithm>

#include "frontend/lower/common.h"
#include "onnx/ops/append.h"
#include "onnx/ops/common.h"
#include "onnx/ops/heads.h"

namespace svod {

namespace {

struct GroupQuery {
  OnnxNode& n;
  Tensor q, k, v;  // by heads, before the cache
  Dim length, total, room;
  Tensor start, end;  // i64 [batch, 1, 1, 1]: where the new keys of a sequence begin and end in the cache

  bool read();
  bool readSizes();
  bool isSupported() const;
  Tensor normed(Tensor x, int weight, std::string_view eps) const;
  void rotate();
  /// The cache of operand `past` with `fresh` in it.
  Tensor cached(int past, Tensor fresh);
  void keepTogether();
  Tensor visible() const;
  Tensor sink() const;
  Tensor added() const;
  Tensor place(Dim size, int axis) const { return along(cast(n.b.iota(size), DType::I64), 4, axis); }
};

bool GroupQuery::isSupported() const {
  auto refuse = [&](std::string_view what) {
    n.unsupported(std::string(what), "a cache of floats over the whole sequence");
    return false;
  };
  if (n.has(12) || n.has(13) || n.word("k_quant_type") != "NONE" || n.word("v_quant_type") != "NONE")
    return refuse("a quantized cache");
  if (n.integer("sliding_window_cache") != 0) return refuse("sliding_window_cache");
  if (n.integer("qk_output") != 0) return refuse("qk_output");
  return n.require(n.has(3) == n.has(4), "past_key and past_value come together");
}

// How much room the cache has: that of the past, or the total length where it is larger.
bool GroupQuery::readSizes() {
  Dim past = n.has(3) ? n.arg(3).dim(2) : n.b.dim(0);
  length = q.dim(2);
  if (n.isKnown(6)) {
    Dims sizes = n.sizes(6);
    if (!n.require(sizes.rank() == 1, "total_sequence_length is one number")) return false;
    total = sizes[0];
  } else {
    total = past + length;
    n.expect({6}, reshape(n.arg(6), {}), {total});
  }
  room = larger(past, total);
  Tensor lengths = cast(n.arg(5), DType::I64) + 1;  // seqlens_k are one less than the number of keys
  if (!lengths || !room) return false;
  lengths = reshape(lengths, {q.dim(0), n.b.dim(1), n.b.dim(1), n.b.dim(1)});
  Tensor isFirst = eq(cast(n.b.value(total), DType::I64), cast(n.b.value(length), DType::I64));
  end = lengths;
  start = where(isFirst, 0, lengths - cast(n.b.value(length), DType::I64));
  return static_cast<bool>(start);
}

bool GroupQuery::read() {
  const int64_t heads = n.integer("num_heads"), pairs = n.integer("kv_num_heads");
  if (!n.require(heads > 0 && pairs > 0 && heads % pairs == 0, "num_heads is a multiple of kv_num_heads") ||
      !n.require(n.arg(0).rank() == 3 && n.has(1) == n.has(2), "query, key and value are [batch, length, size]"))
    return false;
  Tensor query = n.arg(0), key = n.arg(1), value = n.arg(2);
  if (!key) {
    Dim size = floordiv(query.dim(2), heads + 2 * pairs);
    auto part = [&](int64_t from, int64_t count) { return narrow(n.arg(0), 2, size * from, size * count); };
    query = part(0, heads), key = part(heads, pairs), value = part(heads + pairs, pairs);
  }
  q = withHeads(n, query, heads), k = withHeads(n, key, pairs), v = withHeads(n, value, pairs);
  return q && k && v;
}

// Every head over its root mean square.
Tensor GroupQuery::normed(Tensor x, int weight, std::string_view eps) const {
  if (!n.has(weight) || !x) return x;
  Tensor wide = cast(x, sumDType(x.dtype()));
  double epsilon = n.has(eps) ? n.number(eps) : n.number("qk_norm_epsilon");
  Tensor y = wide * recip(sqrt(meanOf(wide * wide, {3}) + epsilon));
  return cast(y * cast(n.arg(weight), y.dtype()), x.dtype());
}

// Positions are those in the cache, unless operand 9 has others.
void GroupQuery::rotate() {
  q = normed(q, 14, "q_norm_epsilon"), k = normed(k, 15, "k_norm_epsilon");
  if (!n.flag("do_rotary")) return;
  if (!n.require(n.has(7) && n.has(8), "do_rotary needs cos_cache and sin_cache")) return;
  Tensor at = n.has(9) ? n.arg(9) : reshape(start, {q.dim(0), n.b.dim(1)}) + cast(n.b.iota(length), DType::I64);
  Dim turning = n.arg(7).dim(1) * 2;
  auto turned = [&](Tensor x) {
    return rotaryTurned(n, x, n.arg(7), n.arg(8), at, turning, n.flag("rotary_interleaved"));
  };
  q = turned(q), k = turned(k);
}

// In a state all sequences stand at the end of the past, which every run checks.
void GroupQuery::keepTogether() {
  Tensor at = reshape(start, {q.dim(0)}), past = cast(n.b.value(n.arg(3).dim(2)), DType::I64);
  Tensor ends = n.call("stack", {reduce(Op::Min, at, {}, false), reduce(Op::Max, at, {}, false)});
  n.b.expect(ends, past, "GroupQueryAttention with a state: where the sequences go on, by seqlens_k");
}

Tensor GroupQuery::cached(int past, Tensor fresh) {
  if (Tensor kept = appendedToState(n.b, n.arg(past), fresh, 2)) {
    if (past == 3) keepTogether();
    room = kept.dim(2);
    return kept;
  }
  Dims dims{fresh.dim(0), fresh.dim(1), room, fresh.dim(3)};
  Tensor from = place(room, 2) - start;
  Tensor moved = gather(fresh, std::vector<Tensor>{place(dims[0], 0), place(dims[1], 1), from, place(dims[3], 3)});
  if (!n.has(past)) return moved;
  Tensor before = n.arg(past);
  if (before.dim(2) != room) {
    Dims none{n.b.dim(0), n.b.dim(0), n.b.dim(0), n.b.dim(0)}, behind = none;
    behind.set(2, room - before.dim(2));
    before = pad(before, none, behind, 0);
  }
  return where(both(ge(from, 0), lt(from, cast(n.b.value(length), DType::I64))), moved, before);
}

Tensor GroupQuery::visible() const {
  Tensor key = place(room, 3), query = place(length, 2) + start;
  if (!n.flag("causal")) return lt(key, end);
  const int64_t window = n.integer("local_window_size");
  Tensor seen = le(key, query);
  return window < 0 ? seen : both(seen, gt(key, query - window));
}

Tensor GroupQuery::sink() const {
  if (n.has(11)) return n.arg(11);
  if (n.integer("smooth_softmax") != 1) return {};
  return n.b.full({q.dim(1)}, cast(n.b.literal(0.0), DType::F32));
}

// What is added to scores says nothing of the room behind the total length, which nobody sees.
Tensor GroupQuery::added() const {
  Tensor bias = n.arg(10);
  if (!bias || bias.rank() != 4 || bias.dim(3) == room) return bias;
  Dims none{n.b.dim(0), n.b.dim(0), n.b.dim(0), n.b.dim(0)}, behind = none;
  behind.set(3, room - bias.dim(3));
  return pad(bias, none, behind, 0);
}

}  // namespace

Results onnxGroupQueryAttention(OnnxNode& n) {
  GroupQuery g{n, {}, {}, {}, {}, {}, {}, {}, {}};
  if (!g.isSupported() || !g.read() || !g.readSizes()) return Tensor();
  g.rotate();
  if (n.b.failed()) return Tensor();
  Tensor keys = g.cached(3, g.k), values = g.cached(4, g.v);
  Scoring scoring{n.number("scale"), n.number("softcap"), g.visible(), g.added(), g.sink()};
  return std::vector<Tensor>{withoutHeads(attend(n, g.q, keys, values, scoring)), keys, values};
}

}  // namespace svod
