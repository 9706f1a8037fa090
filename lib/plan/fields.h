// The members of plan.json, listed once for the writer and the reader. `visit(key, member)` writes or reads
// one member; a member that follows a test is present only when the test holds.
#pragma once
#include <array>
#include <string_view>

#include "plan/plan.h"

namespace svod::detail {

// Enumerators by their text in plan.json, in enumerator order.
template <class E>
struct EnumNames;
template <>
struct EnumNames<FileKind> {
  static constexpr std::array<std::string_view, 4> kTexts = {"code", "source", "weights", "image"};
};
template <>
struct EnumNames<MemorySpace> {
  static constexpr std::array<std::string_view, 2> kTexts = {"device", "shared"};
};
template <>
struct EnumNames<Place> {
  static constexpr std::array<std::string_view, 6> kTexts = {"arena", "input", "output", "state", "constant", "view"};
};
template <>
struct EnumNames<VariableKind> {
  static constexpr std::array<std::string_view, 3> kTexts = {"free", "fixed", "loop"};
};
template <>
struct EnumNames<Mode> {
  static constexpr std::array<std::string_view, 4> kTexts = {"none", "read", "write", "readwrite"};
};
template <>
struct EnumNames<ExpectationKind> {
  static constexpr std::array kTexts = {
#define EXPECTATION(name, text, diag, says, help) std::string_view(text),
#include "support/expectations.def"
#undef EXPECTATION
  };
};

template <class V>
void fields(V& visit, TargetRecord& target) {
  visit("triple", target.triple);
  visit("cpu", target.cpu);
  visit("features", target.features);
  visit("numerics", target.numerics);
  visit("compiler", target.compiler);
}

template <class V>
void fields(V& visit, ImageTarget& image) {
  visit("device", image.device);
  visit("arch", image.arch);
  visit("driver", image.driver);
}

template <class V>
void fields(V& visit, FileDesc& file) {
  visit("path", file.path);
  visit("kind", file.kind);
  visit("bytes", file.bytes);
  visit("sha256", file.sha256);
  if (file.kind == FileKind::Image) visit("image", file.image);
}

template <class V>
void fields(V& visit, DeviceDesc& device) {
  visit("name", device.name);
  visit("kind", device.kind);
  visit("arenaBytes", device.arenaBytes);
  if (device.kind != DeviceKind::Cpu) visit("sharedBytes", device.sharedBytes);
}

template <class V>
void fields(V& visit, Constant& constant) {
  visit("file", constant.file);
  visit("offset", constant.offset);
  visit("bytes", constant.bytes);
}

template <class V>
void fields(V& visit, RunPlace& place) {
  visit("begin", place.begin);
  visit("end", place.end);
  visit("bytes", place.bytes);
}

template <class V>
void fields(V& visit, BufferDesc& buffer) {
  visit("name", buffer.name);
  visit("dtype", buffer.dtype);
  visit("shape", buffer.shape);
  visit("bytes", buffer.bytes);
  visit("place", buffer.place);
  if (buffer.place == Place::Arena || buffer.place == Place::State) visit("device", buffer.device);
  if (buffer.place == Place::Arena && buffer.device != 0) visit("space", buffer.space);
  if (buffer.place == Place::View) visit("base", buffer.base);
  if (buffer.place == Place::Arena) visit.mayHave("run", buffer.run);
  if (buffer.run) visit("run", *buffer.run);
  if ((buffer.place == Place::Arena && !buffer.run) || buffer.place == Place::View) visit("offset", buffer.offset);
  if (buffer.place == Place::Constant) visit("constant", buffer.constant);
}

template <class V>
void fields(V& visit, Variable& variable) {
  visit("name", variable.name);
  visit("min", variable.min);
  visit("max", variable.max);
  visit("kind", variable.kind);
  if (variable.kind == VariableKind::Fixed) visit("value", variable.value);
  if (variable.kind == VariableKind::Free) visit.mayHave("likely", variable.likely);
  if (variable.likely) visit("likely", *variable.likely);
}

template <class V>
void fields(V& visit, KernelArg& arg) {
  visit("dtype", arg.dtype);
  visit("mode", arg.mode);
  visit("bytes", arg.bytes);
}

template <class V>
void fields(V& visit, KernelImage& image) {
  visit("file", image.file);
  visit("registers", image.registers);
  visit("sharedBytes", image.sharedBytes);
}

template <class V>
void fields(V& visit, LaunchAttribute& attribute) {
  visit("name", attribute.name);
  visit("value", attribute.value);
}

template <class V>
void fields(V& visit, TensorMap& map) {
  visit("arg", map.arg);
  visit("offset", map.offset);
  visit("dtype", map.dtype);
  visit("dims", map.dims);
  visit("strides", map.strides);
  visit("box", map.box);
  visit("step", map.step);
  visit("swizzleBytes", map.swizzleBytes);
}

template <class V>
void fields(V& visit, Grid& grid) {
  visit("groups", grid.groups);
  visit("threads", grid.threads);
  visit("sharedBytes", grid.sharedBytes);
  visit("attributes", grid.attributes);
  visit("tensorMaps", grid.tensorMaps);
  visit("images", grid.images);
}

template <class V>
void fields(V& visit, KernelDesc& kernel) {
  visit.mayHave("grid", kernel.grid);
  if (!kernel.grid) visit("file", kernel.file);
  visit("symbol", kernel.symbol);
  visit("name", kernel.name);
  visit("args", kernel.args);
  visit("values", kernel.values);
  visit.useNames(kernel.values);
  if (kernel.grid) visit("grid", *kernel.grid);
  if (!kernel.grid) visit("tiles", kernel.tiles);
  if (!kernel.grid) visit("scratchBytes", kernel.scratchBytes);
  visit("flops", kernel.flops);
  visit("bytes", kernel.bytes);
  visit("opts", kernel.opts);
}

template <class V>
void fields(V& visit, Launch& launch) {
  visit("kernel", launch.kernel);
  visit("buffers", launch.buffers);
  visit("values", launch.values);
  visit.unlessEmpty("cases", launch.cases);
}

template <class V>
void fields(V& visit, SizeRange& range) {
  visit("size", range.size);
  visit("min", range.min);
  visit("max", range.max);
}

template <class V>
void fields(V& visit, LaunchCase& one) {
  visit("when", one.when);
  visit("launch", one.launch);
}

template <class V>
void fields(V& visit, Copy& copy) {
  visit("dst", copy.dst);
  visit("src", copy.src);
  visit("bytes", copy.bytes);
}

template <class V>
void fields(V& visit, HostArg& arg) {
  visit("buffer", arg.buffer);
  visit("mode", arg.mode);
  visit("shape", arg.shape);
}

template <class V>
void fields(V& visit, HostCall& call) {
  visit("function", call.function);
  visit("args", call.args);
  visit("values", call.values);
}

template <class V>
void fields(V& visit, Loop& loop) {
  visit("variable", loop.variable);
  visit("trips", loop.trips);
  visit("length", loop.length);
  visit("condition", loop.condition);
}

template <class V>
void fields(V& visit, Step& step) {
  visit("deps", step.deps);
  visit.template choice<Launch>("launch", step.action);
  visit.template choice<Copy>("copy", step.action);
  visit.template choice<HostCall>("call", step.action);
  visit.template choice<Loop>("loop", step.action);
}

template <class V>
void fields(V& visit, VariantLaunch& instead) {
  visit("step", instead.step);
  visit("launch", instead.launch);
}

template <class V>
void fields(V& visit, Variant& variant) {
  visit("cpu", variant.cpu);
  visit("features", variant.features);
  visit("launches", variant.launches);
}

template <class V>
void fields(V& visit, Port& port) {
  visit("name", port.name);
  visit("buffer", port.buffer);
  visit("shape", port.shape);
}

template <class V>
void fields(V& visit, State& state) {
  visit("name", state.name);
  visit("buffer", state.buffer);
  visit("init", state.init);
}

template <class V>
void fields(V& visit, Expectation& expectation) {
  visit("buffer", expectation.buffer);
  visit("kind", expectation.kind);
  visit("text", expectation.text);
}

template <class V>
void fields(V& visit, EqualExprs& sizes) {
  visit("a", sizes.a);
  visit("b", sizes.b);
  visit("text", sizes.text);
}

template <class V>
void fields(V& visit, InPlace& pair) {
  visit("source", pair.source);
  visit("result", pair.result);
}

template <class V>
void fields(V& visit, MemoryReport& memory) {
  visit("mode", memory.mode);
  visit("peakBytes", memory.peakBytes);
  visit("unplannedBytes", memory.unplannedBytes);
  visit("lowerBoundBytes", memory.lowerBoundBytes);
  visit("addedEdges", memory.addedEdges);
  visit("inPlace", memory.inPlace);
}

/// All of plan.json but the checksum.
template <class V>
void fields(V& visit, Plan& plan) {
  visit("version", plan.version);
  visit("name", plan.name);
  visit("target", plan.target);
  visit("decisions", plan.decisions);
  visit("files", plan.files);
  visit("devices", plan.devices);
  visit("memory", plan.memory);
  visit("constants", plan.constants);
  visit("variables", plan.variables);
  std::vector<std::string> names = variableNames(plan);
  visit.useNames(names);
  visit("buffers", plan.buffers);
  visit("kernels", plan.kernels);
  visit("steps", plan.steps);
  visit("variants", plan.variants);
  visit("inputs", plan.inputs);
  visit("outputs", plan.outputs);
  visit("states", plan.states);
  visit("equalSizes", plan.equalSizes);
  visit("expectations", plan.expectations);
}

}  // namespace svod::detail
