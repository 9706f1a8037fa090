// A tensor-stage graph with its named ports: what frontends produce and the scheduler consumes.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/expectation.h"

namespace svod {

/// Bytes of a constant: owned, or borrowed from a mapped file that `owner` keeps alive.
struct ConstData {
  const std::byte* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const void> owner;
};

/// Temporary: storage of one run that is stored to like a State, but that nobody outside sees.
/// Expectation: i64 [2, n], stored to like an Output: what a run was given, and what it must be; a run in which the two
/// rows differ fails. The name says what the numbers are, and `expectation` how the run ends.
enum class PortKind : uint8_t { Input, Output, State, Weight, Temporary, Expectation };

/// What Buffer slot `i` of the tensor graph is: ports[i]. The dims and dtype stand in the Buffer node.
struct ModelPort {
  PortKind kind;
  std::string name;
  UOp buffer;  // Op::Buffer, Space::Global, slot == position in Model::ports
  // Weight: the elements, row-major, sharing bytes as memoryBytes() says. State: initial value, byteSize() bytes for
  // each element, or empty for zeros.
  ConstData data;
  ExpectationKind expectation = {};
};

/// Dims over variables that ops take as equal: a run whose variables give them different values fails before its first
/// step. The text says which sizes these are.
struct EqualSizes {
  UOp a, b;
  std::string text;
};

/// The graph computes: for each source of `sink`, in order, a Store(target, value) where target is the Buffer of an
/// Output, Expectation, State or Temporary port, or a view of one of the last two. Reads of a state that must see
/// stores go through After(buffer, stores..); other reads see the value from before every store. A later store of the
/// same state has After(buffer, stores before it..) in its target.
///
/// A loop is End(Group(stores..), range) in the place of a store, and `range` is its counter: everything that depends
/// on it belongs to the body, and nothing else does. After(buffer, earlier stores.., range) is the content an iteration
/// starts with, After(buffer, earlier stores.., end) what the last one left. A loop inside another one stands in the
/// Group of the other. A Range of AxisType::Unroll asks for a copy of the body per iteration.
struct Model {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  UOp sink;
  std::vector<ModelPort> ports;
  std::vector<UOp> variables;  // Op::Var nodes in declaration order
  std::vector<EqualSizes> equalSizes;
  std::vector<std::string> devices = {"cpu"};  // that a value can be copied to; the first is the host
  std::vector<std::string> loops;  // by id of a Range: name of the counter, unlike variables and enclosing loops
  std::map<uint32_t, std::string> labels;  // node id -> name in the source file, for kernel names and messages
};

}  // namespace svod
