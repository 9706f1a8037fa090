// States and temporaries while a model is built: which content a read sees, what stores and calls do to it, and what
// of that leaves the body of a loop.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "frontend/tensor.h"
#include "ir/model.h"

namespace svod {

/// The Buffer that a view, or its content, is of.
UOp bufferOfView(UOp view);

/// The model outside of loops, and the bodies of the loops that are open. Copies of it are what was stored at a time.
class OpenBodies {
 public:
  struct Body {
    UOp range;                                 // null outside of loops
    std::vector<UOp> stores = {};              // and loops
    std::map<uint32_t, UOp> newest = {};       // Buffer id -> After with every store so far
    std::vector<UOp> read = {}, written = {};  // Buffers
    std::function<Tensor()> condition = {};
    Tensor flag = {};  // what the condition is kept in
    Tensor done = {};  // iterations, where a length is their count; or null
  };

  Body& innermost() { return bodies_.back(); }
  Body& outermost() { return bodies_[0]; }
  const Body& outermost() const { return bodies_[0]; }
  bool isInLoop() const { return bodies_.size() > 1; }
  /// Of the loops that are open, the outermost first.
  std::vector<UOp> ranges() const;

  void open(Body body) { bodies_.push_back(std::move(body)); }
  /// The innermost one, which is open no more.
  Body close();

  /// The newest content of a state or temporary.
  UOp current(Graph& graph, UOp buffer) { return currentIn(graph, bodies_.size() - 1, buffer); }
  void addStore(Graph& graph, UOp buffer, UOp store);
  /// The End of a body that was closed and has stores, as an effect of the one around it.
  UOp addLoop(Model& model, Body body);

 private:
  UOp currentIn(Graph& graph, size_t body, UOp buffer);
  void addEffect(Graph& graph, UOp buffer, UOp effect);
  std::vector<UOp> withoutReadOnly(Model& model, Body& body);

  std::vector<Body> bodies_ = std::vector<Body>(1);  // innermost last
};

}  // namespace svod
