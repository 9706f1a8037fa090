// Attention by heads: what the ops of all domains share. Tensors of heads are [batch, heads, length, size].
#pragma once
#include "onnx/node.h"

namespace svod {

/// [batch, length, heads * size] as [batch, heads, length, size].
Tensor withHeads(OnnxNode& n, Tensor x, int64_t heads);
/// The other way.
Tensor withoutHeads(Tensor x);
/// Every head of x serves as many heads in a row as make `heads`.
Tensor repeatHeads(OnnxNode& n, Tensor x, Dim heads);
/// Pairs along the last axis turned by an angle, given as cosine and sine: the halves of x, or neighbours.
Tensor rotated(OnnxNode& n, Tensor x, Tensor cosine, Tensor sine, bool isInterleaved);

/// x by heads, of which the first `turning` elements turn by the angles of positions [batch or 1, length]; the caches
/// hold cosines and sines by position, [positions, turning / 2].
Tensor rotaryTurned(OnnxNode& n, Tensor x, Tensor cosines, Tensor sines, Tensor positions, Dim turning,
                    bool isInterleaved);

/// How scores become weights. Everything after `scale` may be absent: null, or 0.
struct Scoring {
  double scale = 0;    // 0: 1 / sqrt(size of a head)
  double softcap = 0;  // scores s become cap * tanh(s / cap)
  Tensor visible;      // bool, broadcasts to scores: false hides a key
  Tensor added;        // added to scores, broadcasts
  Tensor sink;         // a score per head [heads] that takes part in the softmax and has no value
};

/// softmax(q k^T * scale ..) v in the dtype of q; sums and the softmax are f32 at least. `scores` gets what the softmax
/// is of. Where all keys of a query are hidden, they weigh the same.
Tensor attend(OnnxNode& n, Tensor q, Tensor k, Tensor v, const Scoring& scoring, Tensor* scores = nullptr);

/// Whether key j may be seen from query i, which stands at position i + offset: [queries, keys].
Tensor causalMask(OnnxNode& n, Dim queries, Dim keys, Dim offset);

}  // namespace svod
