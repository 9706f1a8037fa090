#include "driver/schedule_interp.h"

#include <algorithm>
#include <cstring>

#include "ir/evaluate.h"

namespace svod {

namespace {

// Memory as kernels see it: ports of a packed dtype share bytes, but for states.
HostTensor initialContents(const ModelPort& port, const ModelBindings& bindings, size_t i,
                           const ScheduleBuffer& buffer) {
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

class ScheduleInterpreter {
 public:
  ScheduleInterpreter(const Schedule& schedule, std::vector<UOp> sinks, std::vector<HostTensor>& buffers,
                      VariableValues variables)
      : schedule_(schedule), sinks_(std::move(sinks)), buffers_(buffers), variables_(std::move(variables)) {}

  Status run(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const ScheduleItem& item = schedule_.items[i];
      if (item.kind != ItemKind::Loop) {
        SVOD_CHECK(runItem(item));
        continue;
      }
      const ScheduleLoop& loop = schedule_.loops[item.kernel];
      int64_t count = number(loop.count);
      for (int64_t trip = 0; trip < count; ++trip) {
        if (loop.condition >= 0 && buffers_[loop.condition].at(0).asInt() == 0) break;
        variables_[loop.counter] = trip;
        SVOD_CHECK(run(i + 1, i + 1 + item.length));
      }
      i += item.length;
    }
    return {};
  }

 private:
  int64_t number(UOp size) const {
    auto leaf = [&](UOp var) {
      return Scalar::ofInt(var.dtype(), variables_.at(std::string(var.argAs<VarArg>().name)));
    };
    return evaluate(size, leaf)->asInt();
  }

  bool isView(int buffer) const { return schedule_.buffers[static_cast<size_t>(buffer)].viewOf >= 0; }
  /// Views are only read.
  HostTensor contentsOf(int buffer) const {
    const ScheduleBuffer& b = schedule_.buffers[static_cast<size_t>(buffer)];
    if (b.viewOf < 0) return buffers_[static_cast<size_t>(buffer)];
    const std::vector<std::byte>& whole = buffers_[static_cast<size_t>(b.viewOf)].data;  // a port: of its actual size
    HostTensor part = HostTensor::zeros(b.dtype, {b.maxElements});
    const size_t begin = std::min(whole.size(), static_cast<size_t>(b.viewOffset * byteSize(b.dtype)));
    std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(begin), std::min(part.data.size(), whole.size() - begin),
                part.data.begin());
    return part;
  }

  Status runItem(const ScheduleItem& item) {
    if (item.kind == ItemKind::Launch) {
      std::vector<HostTensor> args(item.args.size());
      for (size_t i = 0; i < args.size(); ++i)  // before what they are views of is handed over
        if (isView(item.args[i])) args[i] = contentsOf(item.args[i]);
      for (size_t i = 0; i < args.size(); ++i)
        if (!isView(item.args[i])) args[i] = std::move(buffers_[item.args[i]]);
      Status status = interpretKernel(sinks_[item.kernel], args, variables_);
      for (size_t i = 0; i < item.args.size(); ++i)
        if (!isView(item.args[i])) buffers_[item.args[i]] = std::move(args[i]);
      SVOD_CHECK(std::move(status));
    } else if (item.kind == ItemKind::Copy) {
      const int64_t bytes = number(item.elements) * byteSize(buffers_[item.args[1]].dtype);
      const HostTensor from = contentsOf(item.args[1]);
      std::memcpy(buffers_[item.args[0]].data.data(), from.data.data(), static_cast<size_t>(bytes));
    } else {
      return fail(Diag::Unsupported, "host calls are not interpreted here", "leave them out of the graph");
    }
    return {};
  }

  const Schedule& schedule_;
  std::vector<UOp> sinks_;  // by kernel
  std::vector<HostTensor>& buffers_;
  VariableValues variables_;
};

}  // namespace

Result<std::vector<HostTensor>> interpretSchedule(const Model& model, const Schedule& schedule,
                                                  const ModelBindings& bindings, const KernelTransform& transform) {
  std::vector<HostTensor> buffers;
  for (const ScheduleBuffer& b : schedule.buffers)
    buffers.push_back(b.port < 0 ? HostTensor::zeros(b.dtype, {b.maxElements})
                                 : initialContents(model.ports[b.port], bindings, static_cast<size_t>(b.port), b));
  std::vector<UOp> sinks;
  for (const Kernel& k : schedule.kernels) {
    UOp sink = k.sink;
    if (transform) {
      SVOD_TRY(sink, transform(k));
    }
    sinks.push_back(sink);
  }
  SVOD_CHECK(
      ScheduleInterpreter(schedule, std::move(sinks), buffers, bindings.variables).run(0, schedule.items.size()));
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
