// Models of tests, interpreted.
#pragma once
#include <catch2/catch.hpp>

#include <algorithm>

#include "interp/interp.h"
#include "onnx/onnx.h"

namespace svod {

inline HostTensor f32(std::vector<int64_t> dims, std::initializer_list<double> values) {
  return HostTensor::of(DType::F32, std::move(dims), values);
}

/// Whether the import has no model, and its first error says `what`.
inline bool isRefused(const OnnxImport& import, const std::string& what) {
  if (import.model || import.errors.empty()) return false;
  const std::string said = toText(import.errors[0]);
  UNSCOPED_INFO(said);
  return said.find(what) != std::string::npos;
}

/// Inputs hold 0, 1, 2, .. at these sizes.
inline ModelBindings bindingsOf(const Model& model, VariableValues variables) {
  ModelBindings bindings;
  bindings.variables = std::move(variables);
  for (const ModelPort& port : model.ports) {
    bindings.ports.emplace_back();
    if (port.kind != PortKind::Input) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape())
      dims.push_back(d.isConst() ? d.constInt() : bindings.variables.at(std::string(d.argAs<VarArg>().name)));
    bindings.ports.back() = HostTensor::zeros(port.buffer.dtype(), dims);
    for (int64_t k = 0; k < bindings.ports.back().numel(); ++k)
      bindings.ports.back().set(k, Scalar::of(port.buffer.dtype(), static_cast<double>(k)));
  }
  return bindings;
}

/// The only output of a model without variables, with inputs bound to 0, 1, 2, ..
inline HostTensor run(const OnnxImport& import, VariableValues variables = {}) {
  for (const Error& e : import.errors) UNSCOPED_INFO(toText(e));
  REQUIRE(import.model);
  const auto isOutput = [](const ModelPort& port) { return port.kind == PortKind::Output; };
  const auto output = std::find_if(import.model->ports.rbegin(), import.model->ports.rend(), isOutput);
  Result<std::vector<HostTensor>> ports = interpret(*import.model, bindingsOf(*import.model, std::move(variables)));
  if (!ports) UNSCOPED_INFO(toText(ports.error()));
  REQUIRE(ports);
  return (*ports)[static_cast<size_t>(import.model->ports.rend() - output - 1)];
}

}  // namespace svod
