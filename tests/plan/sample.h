// A plan with every kind of thing in it, for tests that write, read and damage plans.
#pragma once
#include "plan/directory.h"
#include "plan/plan.h"

namespace svod {

/// y = f(x) twice through the arena, a copy, one to another device, a host call, a loop, a state, sizes that must be
/// equal and an expectation. No code belongs to it.
inline Plan samplePlan() {
  Plan plan;
  plan.name = "sample \"quoted\"";
  plan.target = {"x86_64-unknown-linux-gnu", "x86-64", {"sse4.2", "avx"}, "contract", "svod 0.1.0"};
  plan.decisions = {"fuse a b"};
  plan.files = {{"kernels.so", FileKind::Code, 100, std::string(64, 'a')},
                {"weights.bin", FileKind::Weights, 256, std::string(64, '0')}};
  plan.devices = {{"cpu", DeviceKind::Cpu, 512}, {"other", DeviceKind::Cpu, 128}};
  plan.memory = {"arena", 512, 512, 512, 0, {{2, 6}}};
  plan.constants = {{1, 0, 64}, {1, 64, 192}};
  plan.variables = {{"n", 1, 16, VariableKind::Free, 0},
                    {"batch size", 1, 4, VariableKind::Fixed, 2},
                    {"i", 0, 8, VariableKind::Loop, 0}};
  plan.buffers = {{"x", ElementType::F32, {16}, 64, Place::Input, 0, 0, 0},
                  {"y", ElementType::F32, {16}, 64, Place::Output, 0, 0, 0},
                  {"t", ElementType::F32, {16}, 64, Place::Arena, 64, 0, 0},
                  {"w", ElementType::F32, {16}, 64, Place::Constant, 0, 0, 0},
                  {"s", ElementType::F32, {16}, 64, Place::State, 0, 0, 0},
                  {"v", ElementType::I32, {8}, 32, Place::View, 32, 2, 0},
                  {"t2", ElementType::F32, {16}, 64, Place::Arena, 64, 0, 0},
                  {"e", ElementType::I64, {2, 2}, 32, Place::Arena, 128, 0, 0},
                  {"d", ElementType::F32, {16}, 64, Place::Arena, 64, 0, 0, 1}};
  plan.kernels = {{0,
                   "k_add",
                   "add",
                   {{ElementType::F32, Mode::Read, 64}, {ElementType::F32, Mode::Write, 64}},
                   {"n"},
                   Expr::make(ExprOp::CeilDiv, Expr::variable(0), 4),
                   128,
                   Expr::variable(0) * 2,
                   128,
                   "upcast(0,4)"}};
  const Expr n = Expr::variable(0);
  plan.steps = {{{}, Launch{0, {0, 2}, {n}, {}}},
                {{0}, Copy{1, 2, n * 4}},
                {{0}, HostCall{"log", {{5, Mode::Read, {8}}, {3, Mode::Read, {n, 1}}}, {n + 1}}},
                {{0}, Loop{2, Expr(3), 2}},
                {{}, Launch{0, {2, 4}, {Expr::variable(2)}, {}}},
                {{4}, Launch{0, {3, 4}, {n}, {}}},
                {{}, Copy{8, 0, n * 4}}};
  plan.inputs = {{"x", 0, {n}}};
  plan.outputs = {{"y", 1, {n}}};
  plan.states = {{"s", 4, ConstantId{0}}};
  plan.equalSizes = {{n, Expr::variable(1) * 2, "rows of \"x\""}};
  plan.expectations = {{7, ExpectationKind::Supported, "what is \"given\""}};
  return plan;
}

/// The same where the arena of the host is laid out for every run.
inline Plan sampleRunPlan() {
  Plan plan = samplePlan();
  const Expr n = Expr::variable(0);
  plan.variables[0].likely = 8;
  for (const uint32_t id : {2, 6}) plan.buffers[BufferId(id)].run = RunPlace{0, 1, n * 4};
  plan.buffers[7].run = RunPlace{1, 3, 32};
  for (const uint32_t id : {2, 6, 7}) plan.buffers[BufferId(id)].offset = 0;
  plan.devices[0].arenaBytes = 128;
  return plan;
}

/// The same for two more processors: one has a kernel of its own for two steps, which reads other weights, in a file of
/// its own; the other differs in nothing.
inline Plan sampleVariantsPlan() {
  Plan plan = samplePlan();
  plan.files.push_back({"kernels-x86-64-v3.so", FileKind::Code, 120, std::string(64, 'd')});
  plan.buffers.push_back({"w", ElementType::F32, {32}, 128, Place::Constant, 0, 0, 1});
  KernelDesc kernel = plan.kernels[0];
  kernel.file = 2, kernel.tiles = 1, kernel.args[0].bytes = 128;
  plan.kernels.push_back(kernel);
  kernel.args[0].bytes = 64;
  plan.kernels.push_back(std::move(kernel));
  const Expr n = Expr::variable(0);
  plan.variants = {{"x86-64-v3", {"avx", "avx2", "sse4.2"}, {{4, {2, {2, 4}, {3}, {}}}, {5, {1, {9, 4}, {n}, {}}}}},
                   {"x86-64-v4", {"avx", "avx2", "avx512f", "sse4.2"}, {}}};
  return plan;
}

/// The same with two cases of a launch, one of which reads other weights and takes fewer values, and one of another.
inline Plan sampleCasesPlan() {
  Plan plan = samplePlan();
  plan.buffers.push_back({"w", ElementType::F32, {32}, 128, Place::Constant, 0, 0, 1});
  KernelDesc kernel = plan.kernels[0];
  kernel.name += "_1", kernel.values.clear(), kernel.tiles = 1, kernel.flops = 2;
  kernel.args[0].bytes = 128, kernel.args[1].bytes = 4;
  plan.kernels.push_back(std::move(kernel));
  const Expr n = Expr::variable(0), batch = Expr::variable(1);
  std::get<Launch>(plan.steps[5].action).cases = {
      {{{n, 1, 1}}, {1, {9, 4}, {}, {}}},
      {{{Expr::make(ExprOp::Mod, n, 4), 0, 0}, {batch, 1, 3}}, {0, {3, 4}, {n * 1}, {}}}};
  std::get<Launch>(plan.steps[0].action).cases = {{{{n + batch, -5, 9}}, {0, {0, 2}, {4}, {}}}};
  return plan;
}

/// The same with a device of another kind: copies into both of its arenas, and a kernel with a grid there.
inline Plan sampleGridPlan() {
  Plan plan = samplePlan();
  plan.files.push_back({"kernels.bin", FileKind::Image, 300, std::string(64, 'b'), {"gpu", "arch_9", 12}});
  plan.files.push_back({"older.bin", FileKind::Image, 200, std::string(64, 'c'), {"gpu", "arch_8", 0}});
  plan.devices.push_back({"far", "gpu", 192, 64});
  plan.buffers.push_back({"in", ElementType::F32, {16}, 64, Place::Arena, 0, 0, 0, 2, MemorySpace::Shared});
  plan.buffers.push_back({"out", ElementType::F32, {16}, 64, Place::Arena, 128, 0, 0, 2});
  KernelDesc kernel = plan.kernels[0];
  kernel.symbol = kernel.name = "k_grid";
  kernel.file = 0, kernel.tiles = 1, kernel.scratchBytes = 0;
  const Expr n = Expr::variable(0);
  Grid& grid = kernel.grid.emplace();
  grid.groups = {Expr::make(ExprOp::CeilDiv, n, 4), 2, 1};
  grid.threads = {4, 2, 1};
  grid.sharedBytes = 256;
  grid.attributes = {{"cluster.x", 2}};
  grid.tensorMaps = {{0, 0, ElementType::F32, {4, n}, {16}, {4, 2}, {1, 1}, 32}};
  grid.images = {{2, 40, 128}, {3, 32, 0}};
  plan.kernels.push_back(std::move(kernel));
  plan.steps.push_back({{}, Copy{9, 0, n * 4}});
  plan.steps.push_back({{7}, Launch{1, {9, 10}, {n}, {}}});
  plan.steps.push_back({{1, 8}, Copy{1, 10, n * 4}});
  return plan;
}

/// The same where each architecture of the device has a kernel of its own, for two processors.
inline Plan sampleArchPlan() {
  Plan plan = sampleGridPlan();
  KernelDesc kernel = plan.kernels[1];
  kernel.name += "@arch_8";
  kernel.grid->groups = {Expr::variable(0), 1, 1}, kernel.grid->sharedBytes = 0;
  kernel.grid->tensorMaps.clear(), kernel.grid->attributes.clear();
  plan.kernels[1].grid->images.pop_back();
  kernel.grid->images.erase(kernel.grid->images.begin());
  plan.kernels.push_back(std::move(kernel));
  plan.variants = {{"gpu:arch_8", {}, {{8, {2, {9, 10}, {Expr::variable(0)}, {}}}}},
                   {"x86-64-v3", {"avx", "avx2", "sse4.2"}, {}}};
  return plan;
}

}  // namespace svod
