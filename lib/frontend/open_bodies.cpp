#include "frontend/open_bodies.h"

#include <algorithm>
#include <utility>

namespace svod {

namespace {

/// Whether the newest content of a scope comes from an effect in it: a body starts with that of its counter.
bool isWrittenIn(bool isOutermost, UOp newest) {
  return newest.op() == Op::After && (isOutermost || newest.src().back().op() != Op::Range);
}

/// What is read once `effect` has happened after `content`. The targets of stores hold the content before them, so a
/// store or the end of a loop stands for all effects before it; the counter of a loop does not.
UOp followedBy(Graph& graph, UOp content, UOp effect) {
  std::vector<UOp> src{bufferOfView(content)};
  if (effect.op() == Op::Range && content.op() == Op::After) src.assign(content.src().begin(), content.src().end());
  src.push_back(effect);
  return graph.make(Op::After, content.dtype(), src);
}

}  // namespace

UOp bufferOfView(UOp view) {
  while (view.op() != Op::Buffer) view = view.src(0);
  return view;
}

std::vector<UOp> OpenBodies::ranges() const {
  std::vector<UOp> all;
  for (const Body& body : bodies_)
    if (body.range) all.push_back(body.range);
  return all;
}

OpenBodies::Body OpenBodies::close() {
  Body body = std::move(bodies_.back());
  bodies_.pop_back();
  return body;
}

UOp OpenBodies::currentIn(Graph& graph, size_t at, UOp buffer) {
  Body& body = bodies_[at];
  if (auto it = body.newest.find(buffer.id()); it != body.newest.end()) return it->second;
  if (at == 0) return buffer;
  UOp content = followedBy(graph, currentIn(graph, at - 1, buffer), body.range);
  body.newest.emplace(buffer.id(), content);
  body.read.push_back(buffer);
  return content;
}

void OpenBodies::addEffect(Graph& graph, UOp buffer, UOp effect) {
  UOp before = current(graph, buffer);
  Body& body = innermost();
  body.newest[buffer.id()] = followedBy(graph, before, effect);
  if (!isWrittenIn(!isInLoop(), before)) body.written.push_back(buffer);
}

void OpenBodies::addStore(Graph& graph, UOp buffer, UOp store) {
  innermost().stores.push_back(store);
  addEffect(graph, buffer, store);
}

UOp OpenBodies::addLoop(Model& model, Body body) {
  Graph& graph = *model.graph;
  std::vector<UOp> stores = withoutReadOnly(model, body);
  UOp end = graph.make(Op::End, DType::Void, {graph.make(Op::Group, DType::Void, stores), body.range});
  innermost().stores.push_back(end);
  for (UOp buffer : body.written) addEffect(graph, buffer, end);
  return end;
}

/// The stores of a body; buffers it only reads are read as they are before the loop, so that what follows from them
/// need not be computed in every iteration.
std::vector<UOp> OpenBodies::withoutReadOnly(Model& model, Body& body) {
  Graph& graph = *model.graph;
  std::map<uint32_t, UOp> replaced;  // content at the start of an iteration -> content before the loop
  for (UOp buffer : body.read)
    if (!isWrittenIn(false, body.newest.at(buffer.id())))
      replaced.emplace(body.newest.at(buffer.id()).id(), current(graph, buffer));
  if (replaced.empty()) return std::move(body.stores);
  UOp group = graph.make(Op::Group, DType::Void, body.stores);
  group = transform(graph, group, [&](UOp node, std::span<const UOp> src) {
    if (auto it = replaced.find(node.id()); it != replaced.end()) return it->second;
    if (std::ranges::equal(src, node.src())) return node;
    UOp changed = graph.withSrc(node, src);
    if (auto name = model.labels.find(node.id()); name != model.labels.end())
      model.labels.emplace(changed.id(), name->second);
    return changed;
  });
  return {group.src().begin(), group.src().end()};
}

}  // namespace svod
