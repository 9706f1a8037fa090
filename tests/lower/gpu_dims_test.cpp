// GPU axes on the interpreter: threads of a workgroup run in lock step between barriers.
#include <catch2/catch.hpp>
#include <cmath>

#include "common/gpu_lowering.h"
#include "common/graphs.h"
#include "interp/interp.h"
#include "opts/replay.h"
#include "schedule/schedule.h"

using namespace svod;

namespace {

Caps gpuCaps() {
  Caps caps;
  caps.workgroups = true, caps.threads = false;
  return caps;
}

HostTensor ramp(int64_t n) {
  HostTensor t = HostTensor::zeros(DType::F32, {n});
  for (int64_t i = 0; i < n; ++i) t.set(i, Scalar::ofFloat(DType::F32, static_cast<double>(i * 7 % 13 - 6)));
  return t;
}

Result<LinearKernel> lowered(Kernel& kernel, const char* opts, const GpuLimits& limits = {}) {
  GpuTarget gpu = testGpu();
  gpu.limits = limits;
  Graph& g = *kernel.graph;
  SVOD_TRY(std::vector<OptOp> list, parseOpts(opts));
  SVOD_TRY(UOp sink, applyOpts(g, kernel.sink, list, gpuCaps()));
  return loweredForGpu(g, sink, gpu);
}

void check(GraphMaker& m, const char* opts, std::initializer_list<const char*> specials) {
  INFO(opts);
  auto schedule = makeSchedule(m.model, {});
  REQUIRE(schedule);
  REQUIRE(schedule->items.size() == 1);
  ModelBindings bindings;
  std::vector<HostTensor> buffers;
  for (const ModelPort& p : m.model.ports) {
    HostTensor data = ramp(p.buffer.maxNumel());
    for (size_t i = 0; i < p.buffer.rank(); ++i)
      i == 0 ? void(data.dims = {p.buffer.dim(0)}) : data.dims.push_back(p.buffer.dim(i));
    bindings.ports.push_back(p.kind == PortKind::Output ? HostTensor{} : data);
  }
  auto expected = interpret(m.model, bindings);
  REQUIRE(expected);
  const ScheduleItem& item = schedule->items[0];
  for (int arg : item.args) {
    const ScheduleBuffer& b = schedule->buffers[arg];
    buffers.push_back(m.model.ports[b.port].kind == PortKind::Output ? HostTensor::zeros(b.dtype, {b.maxElements})
                                                                     : bindings.ports[b.port]);
  }
  auto kernel = lowered(schedule->kernels[0], opts);
  if (!kernel) FAIL(toText(kernel.error()));
  for (const char* name : specials) {
    bool found = false;
    for (UOp n : kernel->ops) found |= n.op() == Op::Special && n.argAs<VarArg>().name == name;
    INFO(name);
    CHECK(found);
  }
  if (auto status = interpretLinear(*kernel, buffers, {}); !status) FAIL(toText(status.error()));
  for (size_t i = 0; i < item.args.size(); ++i) {
    if (!item.writes[i]) continue;
    const HostTensor& want = (*expected)[schedule->buffers[item.args[i]].port];
    for (int64_t e = 0; e < want.numel(); ++e)
      REQUIRE(buffers[i].at(e).asFloat() == Approx(want.at(e).asFloat()).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("grid and workgroup axes become hardware indices") {
  GraphMaker m;
  UOp x = m.input("x", {12, 20});
  m.output("y", m.g.alu(Op::Mul, {x, x}));
  check(m, "global(0,1) local(1,4)", {"gidx0", "gidx1", "lidx0"});
}

TEST_CASE("more than three grid axes are joined") {
  GraphMaker m;
  UOp x = m.input("x", {2, 3, 4, 5, 6});
  m.output("y", m.permute(m.g.alu(Op::Add, {x, x}), {4, 2, 0, 1, 3}));
  check(m, "global(0,1,2,3,4)", {"gidx0", "gidx1", "gidx2"});
}

TEST_CASE("a workgroup shares a reduction through local memory") {
  GraphMaker m;
  m.output("y", m.reduce(Op::Add, m.input("x", {6, 64}), {1}));
  check(m, "global(0) group(1,8)", {"gidx0", "lidx0"});
}

TEST_CASE("a shared reduction beside local axes") {
  GraphMaker m;
  UOp a = m.input("a", {8, 32}), b = m.input("b", {32, 12});
  m.output("y", m.matmul(a, b, 8, 12, 32));
  check(m, "global(0,1) local(0,4) grouptop(3,4)", {"gidx0", "lidx0", "lidx1"});
}

TEST_CASE("a panel that is refilled in a loop is guarded by barriers") {
  for (const char* opts :
       {"local(1,4) pack(1,3)", "local(1,4) pack(2,3)", "local(0,4) pack(1,3)", "local(0,4) pack(2,3)"}) {
    INFO(opts);
    GraphMaker m;
    UOp a = m.input("a", {8, 32}), b = m.input("b", {32, 12});
    m.output("y", m.matmul(a, b, 8, 12, 32));
    check(m, opts, {"lidx0"});
  }
}

TEST_CASE("axes beyond the device's limits are an error that says so") {
  GraphMaker m;
  UOp x = m.input("x", {4, 4000});
  m.output("y", m.g.alu(Op::Mul, {x, x}));
  auto schedule = makeSchedule(m.model, {});
  REQUIRE(schedule);
  GpuLimits limits;
  limits.grid = {16, 16, 16};
  auto kernel = lowered(schedule->kernels[0], "global(0,1)", limits);
  REQUIRE_FALSE(kernel);
  CHECK(kernel.error()->diag == Diag::Unsupported);
}

TEST_CASE("axes beyond the limits of y and z join those inside of them") {
  GraphMaker m;
  UOp x = m.input("x", {40, 30, 4});
  m.output("y", m.g.alu(Op::Mul, {x, x}));
  auto schedule = makeSchedule(m.model, {});
  REQUIRE(schedule);
  GpuLimits limits;
  limits.grid = {1 << 20, 16, 16};
  auto kernel = lowered(schedule->kernels[0], "global(0,1,2)", limits);
  REQUIRE(kernel);
  std::vector<int64_t> extents;
  for (UOp n : kernel->ops)
    if (n.op() == Op::Special) extents.push_back(n.src(0).bounds().max);
  CHECK(extents == std::vector<int64_t>{4800});
}
