#include "common/schedule_interp.h"

#include <cstring>

#include "ir/evaluate.h"

namespace svod {

namespace {

HostTensor initialContents(const ModelPort& port, const ModelBindings& bindings, size_t i, const ScheduleBuffer& buffer) {
  if (i < bindings.ports.size() && bindings.ports[i].dtype != DType::Void) return bindings.ports[i];
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
  for (const ScheduleItem& item : schedule.items) {
    if (item.kind == ItemKind::Launch) {
      std::vector<HostTensor> args;
      for (int a : item.args) args.push_back(std::move(buffers[a]));
      Status status = interpretKernel(sinks[item.kernel], args, bindings.variables);
      for (size_t i = 0; i < item.args.size(); ++i) buffers[item.args[i]] = std::move(args[i]);
      SVOD_CHECK(std::move(status));
    } else if (item.kind == ItemKind::Copy) {
      buffers[item.args[0]].data = buffers[item.args[1]].data;
    } else {
      return fail(Diag::Unsupported, "host calls are not interpreted here", "leave them out of the graph");
    }
  }
  buffers.resize(model.ports.size());
  return buffers;
}

}  // namespace svod
