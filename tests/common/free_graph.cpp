#include "common/free_graph.h"

#include "common/free_steps.h"

namespace svod {

namespace {

class Maker : FreeSteps {
 public:
  explicit Maker(uint64_t seed) : FreeSteps(seed) {}

  FreeGraph build() {
    struct Piece {
      const char* name;
      void (Maker::*make)();
      int weight;
    };
    static constexpr Piece kPieces[] = {{"layer", &Maker::layer, 6},
                                        {"feed-forward", &Maker::feedForward, 3},
                                        {"free product", &Maker::freeProduct, 4},
                                        {"vector product", &Maker::vectorProduct, 2},
                                        {"bytes", &Maker::bytes, 3},
                                        {"attention", &Maker::attention, 5},
                                        {"convolution", &Maker::convolution, 7},
                                        {"pool", &Maker::pool, 2},
                                        {"resize", &Maker::resized, 1},
                                        {"global pool", &Maker::globalPool, 1},
                                        {"transposed convolution", &Maker::transposed, 1},
                                        {"normalization", &Maker::normalized, 5},
                                        {"fold", &Maker::folded, 5},
                                        {"best", &Maker::best, 2},
                                        {"scan", &Maker::scanned, 3},
                                        {"sort", &Maker::sorted, 3},
                                        {"mask", &Maker::masked, 2},
                                        {"elementwise", &Maker::elementwise, 5},
                                        {"part", &Maker::part, 4},
                                        {"join", &Maker::joined, 4},
                                        {"reshape", &Maker::reshaped, 4},
                                        {"turn", &Maker::turned, 2},
                                        {"pad", &Maker::padded, 2},
                                        {"roll", &Maker::rolled, 1},
                                        {"gather", &Maker::gathered, 3},
                                        {"embedding", &Maker::embedded, 1},
                                        {"scatter", &Maker::scattered, 3},
                                        {"choice", &Maker::chosen, 2},
                                        {"one hot", &Maker::oneHot, 1},
                                        {"recurrence", &Maker::recurrent, 3},
                                        {"filter", &Maker::filtered, 1},
                                        {"count", &Maker::counted, 2},
                                        {"cache", &Maker::cached, 2},
                                        {"branch", &Maker::branched, 1}};
    int all = 0;
    for (const Piece& p : kPieces) all += p.weight;
    FreeGraph graph;
    for (int64_t i = draw_.between(1, 4); i > 0; --i) {
      int64_t at = draw_.below(all);
      const Piece* piece = kPieces;
      while (at >= piece->weight) at -= piece->weight, ++piece;
      (this->*piece->make)();
      graph.pieces.emplace_back(piece->name);
    }
    graph.text = text();
    return graph;
  }
};

}  // namespace

FreeGraph freeGraph(uint64_t seed) { return Maker(seed).build(); }

}  // namespace svod
