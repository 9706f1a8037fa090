#include "interp/port_content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace svod {

namespace {

Result<HostTensor> boundContent(DType dtype, const std::vector<int64_t>& dims, const ModelPort& port,
                                const HostTensor& bound) {
  if (bound.dtype == dtype && bound.dims == dims) return bound;
  return fail(Diag::InputMismatch,
              fmt::format("'{}' is {}[{}], bound to {}[{}]", port.name, toText(dtype), fmt::join(dims, ","),
                          toText(bound.dtype), fmt::join(bound.dims, ",")),
              "bind a tensor of the declared dtype and shape");
}

}  // namespace

Result<HostTensor> portContent(DType dtype, std::vector<int64_t> dims, const ModelPort& port, const HostTensor* bound) {
  if (std::ranges::any_of(dims, [](int64_t d) { return d < 0; }))
    return fail(Diag::VariableBounds, fmt::format("'{}' has a negative dim: [{}]", port.name, fmt::join(dims, ", ")),
                "bind variables inside their bounds");
  if (bound != nullptr && bound->dtype != DType::Void) return boundContent(dtype, dims, port, *bound);
  const bool isShared = port.kind != PortKind::State;
  const auto bytes =
      static_cast<size_t>(isShared ? memoryBytes(dtype, numelOf(dims)) : numelOf(dims) * byteSize(dtype));
  bool needsData = port.kind == PortKind::Weight && port.data.data == nullptr && bytes > 0;
  if (port.kind == PortKind::Input || needsData)
    return fail(Diag::MissingInput, "'" + port.name + "' is not bound", "bind every input");
  if (!port.data.data) return HostTensor::zeros(dtype, dims);
  if (port.data.bytes != bytes)
    return fail(Diag::BadWeights, fmt::format("'{}' has {} bytes of data, needs {}", port.name, port.data.bytes, bytes),
                "check the declared shape");
  const std::span<const std::byte> data(port.data.data, bytes);
  if (isShared) return HostTensor::fromMemory(dtype, dims, data);
  return HostTensor{dtype, dims, {data.begin(), data.end()}};
}

}  // namespace svod
