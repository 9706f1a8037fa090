#include "interp/storage.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text.h"

namespace svod {

namespace {

// Element `i` of memory seen as elements of `dtype`: u8 memory is what a bool buffer binds to.
tl::unexpected<Error> outside(UOp node, const Address& address, int64_t at, int64_t count) {
  return fail(Error(Diag::Mismatch,
                    fmt::format("{} of element {} in storage of {} elements", toText(node.op()), at, count),
                    "the pass that made the address or its gate is wrong")
                  .withNote("node: " + toLineText(node))
                  .withNote("address: " + toExpr(address.index)));
}

int64_t elementsOf(const Address& address) {
  return static_cast<int64_t>(address.storage->data.size()) / byteSize(address.index.dtype());
}

bool taken(const LaneValues* gate, size_t lane) { return gate == nullptr || (*gate)[lane].asInt() != 0; }

}  // namespace

bool anyLane(const LaneValues& gate) {
  for (size_t i = 0; i < gate.count(); ++i)
    if (gate[i].asInt() != 0) return true;
  return false;
}

LaneValues flatIndex(std::span<const int64_t> dims, std::span<const LaneValues* const> indices) {
  size_t width = 0;
  for (const LaneValues* l : indices)
    if (l->isVector()) width = std::max(width, l->vector.size());
  std::vector<Scalar> lanes(std::max<size_t>(width, 1));
  for (size_t i = 0; i < lanes.size(); ++i) {
    int64_t flat = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      int64_t at = (*indices[axis])[i].asInt();
      flat = flat < 0 || at < 0 || at >= dims[axis] ? -1 : flat * dims[axis] + at;
    }
    lanes[i] = Scalar::ofInt(DType::I64, flat);
  }
  return width == 0 ? LaneValues(lanes[0]) : LaneValues(std::move(lanes));
}

Result<LaneValues> loadLanes(UOp node, const Address& address, const LaneValues* alt, const LaneValues* gate) {
  int64_t limit = elementsOf(address);
  if (!address.at.isVector() && gate == nullptr) {
    const int64_t at = address.at.first.asInt();
    if (at < 0 || at >= limit) return outside(node, address, at, limit);
    return LaneValues(HostTensor::readElement(node.dtype(), address.storage->data.data(), at));
  }
  std::vector<Scalar> out(address.at.count());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!taken(gate, i)) {
      out[i] = (*alt)[i];
      continue;
    }
    int64_t at = address.at[i].asInt();
    if (at < 0 || at >= limit) return outside(node, address, at, limit);
    out[i] = HostTensor::readElement(node.dtype(), address.storage->data.data(), at);
  }
  return address.at.isVector() ? LaneValues(std::move(out)) : LaneValues(out[0]);
}

Status storeLanes(UOp node, const Address& address, const LaneValues& value, const LaneValues* gate) {
  int64_t limit = elementsOf(address);
  for (size_t i = 0; i < address.at.count(); ++i) {
    if (!taken(gate, i)) continue;
    int64_t at = address.at[i].asInt();
    if (at < 0 || at >= limit) return outside(node, address, at, limit);
    HostTensor::writeElement(address.index.dtype(), address.storage->data.data(), at, value[i]);
  }
  return {};
}

Result<HostTensor*> boundBuffer(UOp param, size_t position, std::span<HostTensor> buffers) {
  if (position >= buffers.size())
    return fail(Diag::MissingInput, "no buffer for " + toLineText(param), "bind a tensor to every parameter");
  HostTensor& bound = buffers[position];
  if (bound.dtype != DType::Void && byteSize(bound.dtype) == byteSize(param.dtype())) return &bound;
  return fail(Diag::InputMismatch, fmt::format("a {} tensor is bound to {}", toText(bound.dtype), toLineText(param)),
              "bind a tensor whose elements have the parameter's size");
}

Result<Scalar> boundVariable(UOp variable, const VariableValues& values) {
  const VarArg& v = variable.argAs<VarArg>();
  auto found = values.find(v.name);
  if (found == values.end())
    return fail(Diag::VariableBounds, "no value for variable " + std::string(v.name), "bind every variable");
  if (found->second < v.min || found->second > v.max)
    return fail(Diag::VariableBounds,
                fmt::format("variable {} is {}, outside {}..{}", v.name, found->second, v.min, v.max),
                "bind a value inside the bounds");
  return Scalar::ofInt(variable.dtype(), found->second);
}

std::vector<int64_t> constDims(UOp node) {
  std::vector<int64_t> dims;
  for (UOp d : node.shape()) dims.push_back(std::max<int64_t>(d.bounds().max, 0));
  return dims;
}

HostTensor makeLocal(UOp node) { return HostTensor::zeros(node.dtype(), constDims(node)); }

}  // namespace svod
