// Models of tests, interpreted.
#pragma once
#include <catch2/catch.hpp>

#include "interp/interp.h"
#include "onnx/onnx.h"

namespace svod {

inline HostTensor f32(std::vector<int64_t> dims, std::initializer_list<double> values) {
  return HostTensor::of(DType::F32, std::move(dims), values);
}

/// The only output of a model without variables, with inputs bound to 0, 1, 2, ..
inline HostTensor run(const OnnxImport& import, VariableValues variables = {}) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  ModelBindings bindings;
  bindings.variables = std::move(variables);
  size_t output = 0;
  for (size_t i = 0; i < import.model->ports.size(); ++i) {
    const ModelPort& port = import.model->ports[i];
    if (port.kind == PortKind::Output) output = i;
    bindings.ports.emplace_back();
    if (port.kind != PortKind::Input) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape())
      dims.push_back(d.isConst() ? d.constInt() : bindings.variables.at(std::string(d.argAs<VarArg>().name)));
    bindings.ports.back() = HostTensor::zeros(port.buffer.dtype(), dims);
    for (int64_t k = 0; k < bindings.ports.back().numel(); ++k)
      bindings.ports.back().set(k, Scalar::of(port.buffer.dtype(), static_cast<double>(k)));
  }
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindings);
  if (!ports) UNSCOPED_INFO(toText(ports.error()));
  REQUIRE(ports);
  return (*ports)[output];
}

}  // namespace svod
