// Which buffers of devices are only copies of inputs and outputs.
#include "runtime-min/port_copies.h"
#include "runtime/harness.h"

using namespace svod;

namespace {

struct Ports {
  PlanBuilder b;
  BufferId x, y, z, in, out;
  Ports() {
    b.plan.devices.push_back({"gpu", DeviceKind::Cpu, 0});
    x = b.input("x", 8, 8), y = b.output("y", 8, 8), z = b.output("z", 8, 8);
    b.device = 1;
    in = b.arena("in", 8), out = b.arena("out", 8);
  }
  std::vector<std::pair<BufferId, BufferId>> found() const {
    std::vector<std::pair<BufferId, BufferId>> pairs;
    for (const PortCopy& copy : findPortCopies(b.plan)) pairs.emplace_back(copy.port, copy.buffer);
    return pairs;
  }
};

using Pairs = std::vector<std::pair<BufferId, BufferId>>;

}  // namespace

TEST_CASE("a buffer that only a copy of an input fills, and one that an output is copied from last, are copies") {
  Ports p;
  p.b.step(Copy{p.in, p.x, 32});
  p.b.launch("k_double", {p.in, p.out}, {R, W}, {8});
  p.b.step(Copy{p.y, p.out, 32});
  CHECK(p.found() == Pairs{{p.x, p.in}, {p.y, p.out}});
  p.b.step(Copy{p.z, p.out, 32});  // from where the first one is
  CHECK(p.found() == Pairs{{p.x, p.in}, {p.y, p.out}});
  p.b.plan.memory.mode = "remap";
  CHECK(p.found().empty());
}

TEST_CASE("buffers that change after a copy, or hold something else as well, are no copies") {
  {
    Ports p;
    p.b.step(Copy{p.in, p.x, 32});
    p.b.launch("k_add_value", {p.in}, {RW}, {8, 1});
    p.b.step(Copy{p.y, p.in, 32});
    CHECK(p.found() == Pairs{{p.y, p.in}});
    p.b.launch("k_add_value", {p.in}, {RW}, {8, 1});
    p.b.step(Copy{p.z, p.in, 32});
    CHECK(p.found() == Pairs{{p.z, p.in}});
  }
  {
    Ports p;  // written through a view
    const BufferId half = p.b.view("half", p.in, 16, 4);
    p.b.step(Copy{p.in, p.x, 32});
    p.b.launch("k_add_value", {half}, {RW}, {4, 1});
    p.b.launch("k_double", {p.in, p.out}, {R, W}, {8});
    p.b.step(Copy{p.y, p.out, 32});
    p.b.launch("k_add_value", {p.out}, {RW}, {8, 1});
    CHECK(p.found().empty());
  }
  {
    Ports p;  // in a loop
    const VariableId i = p.b.variable("i", 0, 3, VariableKind::Loop);
    p.b.step(Loop{i, 3, 3});
    p.b.step(Copy{p.in, p.x, 32});
    p.b.launch("k_double", {p.in, p.out}, {R, W}, {8});
    p.b.step(Copy{p.y, p.out, 32});
    CHECK(p.found().empty());
  }
  {
    Ports p;  // an output that is an input
    p.b.step(Copy{p.in, p.x, 32});
    p.b.step(Copy{p.y, p.in, 32});
    CHECK(p.found() == Pairs{{p.x, p.in}});
  }
}
