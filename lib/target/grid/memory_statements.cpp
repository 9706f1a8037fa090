#include <algorithm>

#include "target/grid/statements.h"
#include "target/grid/vector_access.h"

namespace svod {

namespace {

void printByLane(UOp load, const VectorAccess& access, KernelBody& body) {
  for (int lane = 0; lane < load.lanes(); ++lane) {
    std::string text = access.loadLane(lane);
    if (load.srcCount() == 3)
      text = body.values().ref(load.src(2), lane) + " ? " + text + " : " + body.values().ref(load.src(1), lane);
    body.define(load, lane, text);
  }
}

}  // namespace

void printLoad(UOp load, KernelBody& body) {
  const VectorAccess access(load.src(0), load.lanes(), body.values());
  const std::string gate = load.srcCount() == 3 && load.src(2).rank() == 0 ? body.values().ref(load.src(2), 0) : "";
  if (access.width() == 1 || (load.srcCount() == 3 && gate.empty())) return printByLane(load, access, body);
  std::vector<std::string> lanes;
  for (int first = 0; first < load.lanes(); first += access.width()) {
    const std::string name = body.values().name(load) + "_" + std::to_string(first);
    const std::string loaded = access.load(first);
    if (gate.empty()) {
      body.line("const " + access.type() + " " + name + " = " + loaded + ";");
    } else {
      std::string alternative;
      for (int i = 0; i < access.width(); ++i)
        alternative += (i == 0 ? "" : ", ") + body.values().ref(load.src(1), first + i);
      body.line(access.type() + " " + name + " = {{" + alternative + "}};");
      body.line("if (" + gate + ") " + name + " = " + loaded + ";");
    }
    for (int i = 0; i < access.width(); ++i) lanes.push_back(name + ".v[" + std::to_string(i) + "]");
  }
  body.name(load, std::move(lanes));
}

void printStore(UOp store, KernelBody& body) {
  const int lanes = std::max(store.src(0).lanes(), store.src(1).lanes());
  const VectorAccess access(store.src(0), lanes, body.values());
  const bool isByLane = access.width() == 1 || (store.srcCount() == 3 && store.src(2).rank() > 0);
  for (int first = 0; first < lanes; first += isByLane ? 1 : access.width()) {
    const std::string gate = store.srcCount() == 3 ? "if (" + body.values().ref(store.src(2), first) + ") " : "";
    if (isByLane) {
      body.line(gate + access.storeLane(first, body.values().ref(store.src(1), first)) + ";");
      continue;
    }
    const std::string name = "s" + body.values().name(store).substr(1) + "_" + std::to_string(first);
    std::string values;
    for (int i = 0; i < access.width(); ++i)
      values += (i == 0 ? "" : ", ") + body.values().ref(store.src(1), first + i);
    body.line("const " + access.type() + " " + name + " = {{" + values + "}};");
    body.line(gate + access.store(first, name) + ";");
  }
}

}  // namespace svod
