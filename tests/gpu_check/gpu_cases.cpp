// Plans for a CUDA device with inputs, the interpreter's results and how far from them a legal result may be, for
// scripts/check_on_gpu.sh, which runs them where a device is:
//   gpu_cases FOLDER ARCH NVRTC|none SHARD/SHARDS GROUP[:COUNT]...
// FOLDER/GROUP/NAME gets a plan, the arrays in/PORT.npy, want/PORT.npy and bound/PORT.npy (f64; missing where results
// are exact), and case.json with ports and variables. One line for each case says which instructions of gpu_ops.def and
// tensor_cores.def its kernels have.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/atomic_write.h"
#include "data/npy.h"
#include "e2e/harness.h"
#include "gpu_check/cases.h"
#include "interp/error_bounds.h"
#include "ir/gpu_op.h"
#include "plan/directory.h"

using namespace svod;

namespace {

struct Request {
  std::string folder, arch;
  std::shared_ptr<const TargetTools> tools;
  long shard = 0, shards = 1;
};

bool isResult(const ModelPort& port) { return port.kind == PortKind::Output || port.kind == PortKind::State; }

Status write(const std::string& path, const HostTensor& tensor) {
  const std::vector<uint64_t> shape(tensor.dims.begin(), tensor.dims.end());
  return writeNpy(path, *elementTypeFromName(toText(tensor.dtype)), shape, tensor.toMemory());
}

/// Of y = a times the transpose of b, where the interpreter's bounds do not know of dropped digits.
void boundByFactors(const GpuCase& c, BoundedResult& expected) {
  const HostTensor &a = c.bindings.ports[0], &b = c.bindings.ports[1];
  const int64_t rows = a.dims[0], columns = b.dims[0], terms = a.dims[1];
  HostTensor& bound = expected.bounds[2] = HostTensor::zeros(DType::F64, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < terms; ++k)
      sum += std::abs(a.at(i / columns * terms + k).asFloat() * b.at(i % columns * terms + k).asFloat());
    bound.set(i, Scalar::ofFloat(DType::F64, sum * c.factorError));
  }
}

Status writeArrays(const GpuCase& c, const BoundedResult& expected, const std::string& at) {
  for (const char* part : {"in", "want", "bound"}) std::filesystem::create_directories(at + "/" + part);
  nlohmann::json ports = nlohmann::json::object(), variables = nlohmann::json::object();
  for (size_t i = 0; i < c.model.ports.size(); ++i) {
    const ModelPort& port = c.model.ports[i];
    const std::string file = "/" + std::to_string(i) + ".npy";
    const bool isGiven = i < c.bindings.ports.size() && c.bindings.ports[i].dtype != DType::Void;
    if (port.kind == PortKind::Weight || (!isResult(port) && !isGiven)) continue;
    ports[port.name] = {{"number", i}, {"dtype", toText(port.buffer.dtype())}};
    if (isGiven) SVOD_CHECK(write(at + "/in" + file, c.bindings.ports[i]));
    if (!isResult(port)) continue;
    SVOD_CHECK(write(at + "/want" + file, expected.values[i]));
    if (expected.bounds[i].dtype != DType::Void) SVOD_CHECK(write(at + "/bound" + file, expected.bounds[i]));
  }
  for (const auto& [name, value] : c.bindings.variables) variables[name] = value;
  return writeFileAtomic(at + "/case.json", nlohmann::json{{"ports", ports}, {"variables", variables}}.dump());
}

/// Names of the instructions in the text of its kernels.
std::string instructionsOf(const Compilation& compilation) {
  std::string words;
  for (const GpuOpInfo& op : allGpuOps())
    for (const auto& kernel : compilation.kernels)
      if (kernel.source.find("svod_" + std::string(op.name)) != std::string::npos) {
        words += " " + std::string(op.name);
        break;
      }
  return words;
}

Status make(GpuCase& c, const Request& request) {
  const std::string at = request.folder + "/" + c.group + "/" + c.name;
  std::filesystem::create_directories(at);
  RunOptions options;
  options.target = "cuda", options.cpu = request.arch;
  options.optLevel = c.optLevel, options.numerics = c.numerics, options.opts = c.opts;
  CompileOptions compiled = compileOptions(options);
  compiled.tools = request.tools;
  compiled.keepSource = true;
  SVOD_TRY(BoundedResult expected, interpretWithBounds(c.model, c.bindings));
  if (c.factorError > 0) boundByFactors(c, expected);
  SVOD_TRY(const std::unique_ptr<Compilation> compilation, compile(c.model, compiled));
  SVOD_CHECK(writePlanDirectory(at + "/plan", compilation->plan, compilation->files));
  std::printf("%s/%s%s\n", c.group.c_str(), c.name.c_str(), instructionsOf(*compilation).c_str());
  return writeArrays(c, expected, at);
}

Status makeCase(const GpuCaseMaker& maker, const Request& request) {
  SVOD_TRY(GpuCase c, maker.make());
  for (size_t i = 0; i < c.model.ports.size() && i < c.bindings.ports.size(); ++i)
    if (c.model.ports[i].kind == PortKind::Weight) c.bindings.ports[i] = {};  // a plan has those of the model
  return make(c, request);
}

bool makeGroup(const Request& request, const std::string& words, long& number) {
  const size_t colon = words.find(':');
  const uint64_t count = colon == words.npos ? 0 : std::strtoull(words.c_str() + colon + 1, nullptr, 10);
  const auto makers = gpuCases(words.substr(0, colon), count, request.arch);
  if (!makers) return std::fprintf(stderr, "%s\n", toText(makers.error()).c_str()), false;
  bool isGood = true;
  for (const GpuCaseMaker& maker : *makers) {
    if (number++ % request.shards != request.shard) continue;
    const Status done = makeCase(maker, request);
    if (!done) std::fprintf(stderr, "%s: %s\n", maker.name.c_str(), toText(done.error()).c_str());
    isGood = isGood && done;
  }
  return isGood;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  if (argc < 6 || std::sscanf(argv[4], "%ld/%ld", &request.shard, &request.shards) != 2)
    return std::fprintf(stderr, "usage: gpu_cases FOLDER ARCH NVRTC|none SHARD/SHARDS GROUP[:COUNT]...\n"), 2;
  request.folder = argv[1], request.arch = argv[2];
  auto tools = (*targetByName("cuda"))->open({{{"nvrtc", argv[3]}}});
  if (!tools) return std::fprintf(stderr, "%s\n", toText(tools.error()).c_str()), 1;
  request.tools = std::move(*tools);
  long number = 0;
  bool isGood = true;
  for (int i = 5; i < argc; ++i) isGood = makeGroup(request, argv[i], number) && isGood;
  return isGood ? 0 : 1;
}
