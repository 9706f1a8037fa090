#include "common/schedule_interp.h"

#include <cstring>

#include "ir/evaluate.h"

namespace svod {

namespace {

// Memory as kernels see it: ports of a packed dtype share bytes, but for states.
HostTensor initialContents(const ModelPort& port, const ModelBindings& bindings, size_t i, const ScheduleBuffer& buffer) {
  if (i < bindings.ports.size() && bindings.ports[i].dtype != DType::Void) {
    const HostTensor& bound = bindings.ports[i];
    if (!isPacked(buffer.dtype)) return bound;
    std::vector<std::byte> memory = bound.toMemory();
    return {DType::U8, {static_cast<int64_t>(memory.size())}, memory};
  }
  HostTensor t = HostTensor::zeros(buffer.dtype, {buffer.maxElements});
  if (port.data.bytes > 0) std::memcpy(t.data.data(), port.data.data, port.data.bytes);
  return t;
}

}  // namespace

Result<std::vector<HostTensor>> interpretSchedule(const Model& model, Schedule& schedule, const ModelBindings& bindings,
                                              const KernelTransform& transform) {
  std::vector<HostTensor> buffers;
  for (const ScheduleBuffer& b : schedule.buffers)
    buffers.push_back(b.port < 0 ? HostTensor::zeros(b.dtype, {b.maxElements})
                                 : initialContents(model.ports[b.port], bindings, static_cast<size_t>(b.port), b));
  std::vector<UOp> sinks;
  for (Kernel& k : schedule.kernels) {
    UOp sink = k.sink;
    if (transform) {
      SVOD_TRY(sink, transform(k));
    }
    sinks.push_back(sink);
  }
  VariableValues variables = bindings.variables;
  auto leaf = [&](UOp var) { return Scalar::ofInt(var.dtype(), variables.at(std::string(var.argAs<VarArg>().name))); };
  auto run = [&](const ScheduleItem& item) -> Status {
    if (item.kind == ItemKind::Launch) {
      std::vector<HostTensor> args;
      for (int a : item.args) args.push_back(std::move(buffers[a]));
      Status status = interpretKernel(sinks[item.kernel], args, variables);
      for (size_t i = 0; i < item.args.size(); ++i) buffers[item.args[i]] = std::move(args[i]);
      SVOD_CHECK(std::move(status));
    } else if (item.kind == ItemKind::Copy) {
      const int64_t bytes = evaluate(item.elements, leaf)->asInt() * byteSize(buffers[item.args[1]].dtype);
      std::memcpy(buffers[item.args[0]].data.data(), buffers[item.args[1]].data.data(), static_cast<size_t>(bytes));
    } else {
      return fail(Diag::Unsupported, "host calls are not interpreted here", "leave them out of the graph");
    }
    return {};
  };
  std::function<Status(size_t, size_t)> runAll = [&](size_t begin, size_t end) -> Status {
    for (size_t i = begin; i < end; ++i) {
      const ScheduleItem& item = schedule.items[i];
      if (item.kind != ItemKind::Loop) {
        SVOD_CHECK(run(item));
        continue;
      }
      const ScheduleLoop& loop = schedule.loops[item.kernel];
      int64_t count = evaluate(loop.count, leaf)->asInt();
      for (int64_t trip = 0; trip < count; ++trip) {
        if (loop.condition >= 0 && buffers[loop.condition].at(0).asInt() == 0) break;
        variables[loop.counter] = trip;
        SVOD_CHECK(runAll(i + 1, i + 1 + item.length));
      }
      i += item.length;
    }
    return {};
  };
  SVOD_CHECK(runAll(0, schedule.items.size()));
  buffers.resize(model.ports.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    DType dtype = model.ports[i].buffer.dtype();
    if (isPacked(schedule.buffers[i].dtype))
      buffers[i] = HostTensor::fromMemory(dtype, {schedule.buffers[i].maxElements}, buffers[i].data);
    buffers[i].dtype = dtype;
  }
  return buffers;
}

}  // namespace svod
