// Names, variables and ports of GraphBuilder: what a model is given and what it gives.
#include <algorithm>

#include "frontend/builder.h"
#include "frontend/size_bounds.h"
#include "frontend/weights.h"

namespace svod {

namespace {

constexpr int64_t kMaxVariableValue = int64_t{1} << 40;
constexpr size_t kMaxNameLength = 1024;

}  // namespace

bool GraphBuilder::declare(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength) {
    fail(Diag::Syntax, "a name has " + std::to_string(name.size()) + " characters", "use 1 to 1024");
    return false;
  }
  if (declared_.emplace(name).second) return true;
  fail(Diag::DuplicateName, "'" + std::string(name) + "' is defined twice", "give one of them another name");
  return false;
}

Dim GraphBuilder::variable(std::string_view name, int64_t min, int64_t max, std::optional<int64_t> likely) {
  if (!declare(name)) return {};
  if (std::find(model_.loops.begin(), model_.loops.end(), name) != model_.loops.end()) {
    fail(Diag::DuplicateName, "'" + std::string(name) + "' is the counter of a loop", "give one of them another name");
    return {};
  }
  if (min > max || min < -kMaxVariableValue || max > kMaxVariableValue) {
    fail(Diag::VariableBounds,
         "variable '" + std::string(name) + "' has bounds [" + std::to_string(min) + ", " + std::to_string(max) + "]",
         min > max ? "the lower bound comes first" : "bounds lie between -2^40 and 2^40");
    return {};
  }
  model_.variables.push_back(graph().variable(name, {min, max}, likely.value_or(usualSize({min, max}))));
  return Dim(graph(), model_.variables.back());
}

void GraphBuilder::dropVariable(std::string_view name) {
  std::erase_if(model_.variables, [&](UOp v) { return v.argAs<VarArg>().name == name; });
}

std::vector<UOp> GraphBuilder::usedVariables() const {
  std::vector<UOp> roots = bodies_.outermost().stores, used;
  for (const EqualSizes& e : model_.equalSizes) roots.insert(roots.end(), {e.a, e.b});
  for (const auto& [id, length] : lengths_) roots.insert(roots.end(), {length.count, length.room.node()});
  for (const ModelPort& p : model_.ports) roots.push_back(p.buffer);
  for (UOp n : toposort(roots))
    if (n.op() == Op::Var) used.push_back(n);
  return used;
}

bool GraphBuilder::checkDims(const Dims& dims, DType dtype, bool isStorage) {
  if (dtype == DType::Void || dtype == DType::Index) {
    fail(Diag::UnknownDType, "'" + std::string(toText(dtype)) + "' cannot be stored", "use i64 for indices");
    return false;
  }
  std::vector<UOp> nodes;
  for (const Dim& d : dims) {
    if (!d) return false;
    nodes.push_back(d.node());
  }
  Tensor shape = wrap(graph().buffer(dtype, nodes, SlotArg{UINT32_MAX, Space::Global}));
  if (!shape) return false;
  const int64_t room = kRoomOfValue / byteSize(dtype);
  if (isStorage && shape.node().maxNumel() > room && mostElements(graph(), nodes) > room) {
    lackRoom(nodes, room);
    fail(Diag::TooLarge, describe(shape) + " does not fit an address space", roomHelp("at most 2^46 bytes"));
    return false;
  }
  return true;
}

bool GraphBuilder::checkData(std::string_view name, DType dtype, const Dims& dims, const ConstData& data) {
  int64_t elements = 1;
  for (const Dim& d : dims) {
    if (!d.isConst()) {
      fail(Diag::ShapeMismatch, "'" + std::string(name) + "' has data but a symbolic shape " + describe(dims),
           "use constant dims, or an input");
      return false;
    }
    elements *= d.constant();
  }
  if (data.bytes == static_cast<size_t>(memoryBytes(dtype, elements))) return true;
  fail(Diag::BadWeights,
       "'" + std::string(name) + "' needs " + std::to_string(memoryBytes(dtype, elements)) + " bytes of data, got " +
           std::to_string(data.bytes),
       "make the shape and the data agree");
  return false;
}

Tensor GraphBuilder::port(PortKind kind, std::string_view name, DType dtype, const Dims& dims, ConstData data) {
  if (!checkDims(dims, dtype, true)) return {};
  std::vector<UOp> nodes;
  for (const Dim& d : dims) nodes.push_back(d.node());
  UOp buffer = graph().buffer(dtype, nodes, SlotArg{static_cast<uint32_t>(model_.ports.size()), Space::Global});
  model_.ports.push_back({kind, std::string(name), buffer, std::move(data)});
  if (!name.empty()) model_.labels.emplace(buffer.id(), name);
  return Tensor(this, buffer, false);
}

Tensor GraphBuilder::input(std::string_view name, DType dtype, const Dims& dims) {
  return declare(name) ? port(PortKind::Input, name, dtype, dims, {}) : Tensor();
}

Tensor GraphBuilder::weight(std::string_view name, DType dtype, const Dims& dims, ConstData data) {
  if (!declare(name) || !checkDims(dims, dtype, true) || !checkData(name, dtype, dims, data)) return {};
  return port(PortKind::Weight, name, dtype, dims, std::move(data));
}

Tensor GraphBuilder::state(std::string_view name, DType dtype, const Dims& dims, ConstData data) {
  if (!declare(name) || !checkDims(dims, dtype, true)) return {};
  bool hasData = data.bytes > 0;
  if (hasData && !checkData(name, dtype, dims, data)) return {};
  if (hasData) data = byteForEach(dtype, dims, std::move(data));
  return port(PortKind::State, name, dtype, dims, std::move(data));
}

void GraphBuilder::output(std::string_view name, Tensor value) {
  if (!value || !checkVisible(value)) return;
  if (bodies_.isInLoop()) {
    fail(Diag::Syntax, "output '" + std::string(name) + "' stands inside a loop",
         "assign the value to a state or a temp, and export that behind the loop");
    return;
  }
  for (const ModelPort& p : model_.ports)
    if (p.kind == PortKind::Output && p.name == name) {
      fail(Diag::DuplicateName, "output '" + std::string(name) + "' is defined twice", "give one of them another name");
      return;
    }
  record(BuildLog::Kind::Output, name, {value});
  label(value, name);
  if (value.isLiteral()) value = cast(value, commonDType({&value, 1}));
  if (value.dtype() == DType::Index) value = cast(value, DType::I64);
  UOp node = value.node();
  Tensor target = port(PortKind::Output, name, value.dtype(), value.dims(), {});
  if (target) bodies_.outermost().stores.push_back(graph().make(Op::Store, DType::Void, {target.node_, node}));
}

}  // namespace svod
