// svodc targets
#include "console/console.h"
#include "print.h"
#include "processors.h"

namespace svod {

namespace {

Table targetTable() {
  Table table{"targets", {{"name", "target"}, {"what", "makes"}}, {}};
  for (const Target* target : targets()) table.rows.push_back({target->name, target->what});
  return table;
}

// By architecture; those of another one than this machine's need --triple.
Table cpuTable() {
  Table table{"processors", {{"arch", "triple"}, {"cpus", "names"}}, {}};
  for (const Arch arch : architectures()) {
    std::string names;
    for (std::string_view name : cpuNames(arch)) names += (names.empty() ? "" : " ") + std::string(name);
    table.rows.push_back({std::string(tripleOf(arch)), names});
  }
  return table;
}

FactList cpuFacts(const CpuTarget& cpu) {
  std::string features;
  for (const std::string& f : cpu.features) features += (features.empty() ? "" : " ") + f;
  return {{"cpu", "cpu", cpu.name},
          {"triple", "triple", cpu.triple},
          {"vectorBytes", "vector", bytesCell(static_cast<uint64_t>(cpu.vectorBytes))},
          {"vectorRegisters", "vector registers", cpu.vectorRegisters},
          {"fmaPerCycle", "multiply-adds per cycle", cpu.fmaPerCycle},
          {"fmaLatency", "their latency in cycles", cpu.fmaLatency},
          {"issued", "instructions started per cycle", cpu.issued},
          {"gatheredLane", "cycles of a lane of a gather", cpu.gatheredLane},
          {"l1Bytes", "L1 data cache", bytesCell(static_cast<uint64_t>(cpu.l1Bytes))},
          {"l2Bytes", "L2 cache", bytesCell(static_cast<uint64_t>(cpu.l2Bytes))},
          {"l3Bytes", "L3 cache", bytesCell(static_cast<uint64_t>(cpu.l3Bytes))},
          {"cores", "cores", cpu.cores},
          {"clockMHz", "MHz while full vectors run", cpu.clockMHz},
          {"l3MBs", "MB/s between a core and L3", cpu.l3MBs},
          {"memoryMBs", "MB/s between a core and memory", cpu.memoryMBs},
          {"features", "features", features}};
}

}  // namespace

Result<int> runTargets(const Request& request, Console& console) {
  const Flags& flags = request.flags;
  SVOD_TRY(const std::vector<std::string> names, cpuNamesOf(flags));
  Document document{"", {}};
  if (flags.cpu.empty()) {
    document.sections.push_back({"", "Targets", {targetTable()}});
    document.sections.push_back({"", "Processors for --cpu", {cpuTable()}});
  }
  for (const std::string& name : names) {
    SVOD_TRY(const CpuTarget cpu, makeCpuTarget(flags.triple, name.empty() ? usualCpu(flags.triple) : name));
    const std::string shown = !name.empty() ? name : usualCpu(flags.triple).empty() ? cpu.name : "native";
    document.sections.push_back({names.size() == 1 ? "cpu" : shown, shown, {cpuFacts(cpu)}});
  }
  SVOD_CHECK(printDocument(document, request, console));
  return 0;
}

}  // namespace svod
