#include "gpu_check/cases.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/random_graph.h"
#include "frontend/frontend.h"
#include "ir/tensor_core.h"
#include "machine/gpu.h"

namespace svod {

namespace {

RandomOptions moderate() {
  RandomOptions options;
  options.contract = true;
  return options;
}

Result<Model> modelOf(const std::string& text) {
  SVOD_TRY(const GraphFile file, parseGraph("svod 1\n" + text, "case.svod"));
  return buildModel(file);
}

Result<GpuCase> opsCase(const std::filesystem::path& path, int level) {
  GpuCase c{"ops", path.stem().string() + "_O" + std::to_string(level), {}, {}, level};
  SVOD_TRY(const GraphFile file, readGraphFile(path.string()));
  SVOD_TRY(c.model, buildModel(file));
  c.bindings = randomBindings(c.model, static_cast<uint64_t>(level) + 1, moderate());
  return c;
}

/// Every third graph has loops, every third sizes at their edges; every fourth is compiled without opts. Even seeds
/// have to give the interpreter's bits.
Result<GpuCase> randomCase(uint64_t seed) {
  GpuCase c{"random", std::to_string(seed), {}, {}, seed % 4 != 0, seed % 2 ? Numerics::Contract : Numerics::Strict};
  RandomOptions options;
  options.loops = seed % 3 == 0;
  options.edges = seed % 3 == 1;
  options.composites = seed % 5 != 0;
  options.contract = c.numerics == Numerics::Contract;
  options.transcendentals = options.contract && seed % 5 < 3;
  options.steps = 14;
  c.model = randomModel(seed, options);
  c.bindings = randomBindings(c.model, seed, options);
  return c;
}

std::string shapeText(const std::string& rows, int64_t columns, bool isTurned) {
  const std::string k = std::to_string(columns);
  return isTurned ? "[" + k + ", " + rows + "]" : "[" + rows + ", " + k + "]";
}

/// A product of every type with a matrix unit, with sizes about those of tiles, each factor either way, and what may
/// stand behind it.
std::string productText(uint64_t seed) {
  Draw draw(seed);
  const char* kTypes[] = {"bf16", "f16", "bf16", "f16", "f32", "f8e4m3", "f8e5m2", "i8"};
  const int64_t kSizes[] = {1, 7, 8, 16, 24, 40, 64, 72, 96, 104, 128, 136, 192, 200, 256, 264, 320};
  const char* kEnds[] = {"p", "p", "relu(p + bias)", "gelu(p)", "p * 0.5 + residual", "silu(p) * residual"};
  const std::string type = draw.of(kTypes);
  const int64_t m = draw.of(kSizes), n = draw.of(kSizes), k = draw.of(kSizes);
  const bool isATurned = draw.chance(30), isBTurned = draw.chance(30), isFree = draw.chance(25) && m > 1;
  const bool isReal = type == "bf16" || type == "f16" || type == "f32";
  const std::string end = isReal ? draw.of(kEnds) : "p", rows = isFree ? "n" : std::to_string(m);
  std::string text = isFree ? "var n in [1, " + std::to_string(m) + "]\n" : "";
  text += "input a: " + type + shapeText(rows, k, isATurned) + "\n";
  text += "input b: " + type + shapeText(std::to_string(n), k, !isBTurned) + "\n";
  if (end.find("bias") != end.npos) text += "input bias: " + type + "[" + std::to_string(n) + "]\n";
  if (end.find("residual") != end.npos) text += "input residual: " + type + shapeText(rows, n, false) + "\n";
  const auto factor = [&](const std::string& name, bool isTurned) {
    const std::string value = isTurned ? "transpose(" + name + ")" : name;
    return isReal ? value : "cast(" + value + ", dtype=" + (type == "i8" ? "i32" : "f32") + ")";
  };
  return text + "p = matmul(" + factor("a", isATurned) + ", " + factor("b", isBTurned) + ")\noutput y = " + end + "\n";
}

Result<GpuCase> productCase(uint64_t seed) {
  GpuCase c{"products", std::to_string(seed), {}, {}};
  SVOD_TRY(c.model, modelOf(productText(seed)));
  c.bindings = randomBindings(c.model, seed, moderate());
  return c;
}

/// Rows of 64 terms of both factors, three stages of them, as a warpgroup multiplies them.
std::string optsOfWarpgroup(const TensorCore& core, size_t index) {
  const auto shared = [](const std::string& slot, const std::string& loop) {
    const std::string copy = "p" + slot + "." + loop;
    return "pack(" + slot + "," + loop + ",k0.i) swizzle(" + copy + ",128) async(" + copy + ",3) spread(" + copy +
           ",8) ";
  };
  return "tile(n0,64) tile(n1," + std::to_string(core.n) + ") order(n0.o,n1.o,n0.i,n1.i) tile(k0,64) " +
         shared("1", "n0.i") + shared("2", "n1.i") + "tc(" + std::to_string(index) +
         ",n0.i,n1.i,k0.i) unroll(k0.i,0) global(n0.o,n1.o)";
}

/// 2 x 2 tiles of one matrix unit, which adds up in its own type.
Result<GpuCase> unitCase(const TensorCore& core, size_t index) {
  GpuCase c{"units", std::string(core.name), {}, {}};
  const std::string in(toText(core.in)), out(toText(core.out));
  const int64_t m = core.m * 2, n = core.n * 2, k = core.isOfWarpgroup() ? 256 : core.k * 3;
  std::string text = "input a: " + in + "[" + std::to_string(m) + ", " + std::to_string(k) + "]\ninput b: " + in + "[" +
                     std::to_string(n) + ", " + std::to_string(k) + "]\noutput y = ";
  text += in == "f8e4m3" || in == "f8e5m2" ? "matmul(cast(a, dtype=f32), cast(transpose(b), dtype=f32))\n"
                                           : "matmul(a, transpose(b), dtype=" + out + ")\n";
  SVOD_TRY(c.model, modelOf(text));
  c.bindings = randomBindings(c.model, index + 1, moderate());
  c.opts = core.isOfWarpgroup() ? optsOfWarpgroup(core, index) : "tc(" + std::to_string(index) + ",0,1,2)";
  if (core.dropsDigits) c.numerics = Numerics::Fast, c.factorError = 0x1p-8;
  return c;
}

/// Copies of 4 and 8 bytes, and matrices that lie transposed and come two at a time: `CORE` is the place of the matrix
/// unit for f16.
constexpr std::array<const char*, 3> kMoves[] = {
    {"copies-of-4", "input a: f32[9, 64]\ninput b: f32[64, 8]\noutput y = matmul(a, b)\n",
     "tile(k0,16) pack(2,k0.i,n1) async(p2.k0.i,4) spread(p2.k0.i,1) local(n0,3) upcast(n1,0) global(n0)"},
    {"copies-of-8", "input a: f32[36, 32]\ninput b: f32[32, 72]\noutput y = matmul(a, b)\n",
     "tile(n0,32) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
     "async(p1.n0.i,2) async(p2.k0.i,2) spread(p1.n0.i,4) spread(p2.k0.i,2) vector(n1.i,4) local(n0.i,8) "
     "local(n1.i,8) upcast(n0.i,0) upcast(n1.i,0) unroll(k0.i,4) global(n0.o,n1.o)"},
    {"transposed-pairs", "input a: f16[66, 96]\ninput b: f16[96, 80]\noutput y = matmul(a, b, dtype=f32)\n",
     "tile(n0,32) tile(n1,16) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
     "spread(p1.n0.i,8) spread(p2.k0.i,4) tc(CORE,n0.i,n1.i,k0.i) local(n0.i,2) local(n1.i,2) "
     "global(n0.o,n1.o)"}};

Result<GpuCase> moveCase(const std::array<const char*, 3>& move, size_t core) {
  GpuCase c{"units", move[0], {}, {}};
  SVOD_TRY(c.model, modelOf(move[1]));
  c.bindings = randomBindings(c.model, 3, moderate());
  c.opts = move[2];
  if (const size_t at = c.opts.find("CORE"); at != c.opts.npos) c.opts.replace(at, 4, std::to_string(core));
  return c;
}

Result<std::vector<GpuCaseMaker>> unitCases(const std::string& arch) {
  const std::optional<GpuTarget> gpu = findGpu(arch);
  if (!gpu) return fail(Diag::Usage, "no GPU is called '" + arch + "'");
  std::vector<GpuCaseMaker> makers;
  size_t index = 0, halves = 0;
  for (const TensorCore* core : tensorCoresOf(gpu->family, gpu->generation, gpu->warpgroupLanes > 0)) {
    if (core->name == "m16n8k16-f16-f32") halves = index;
    if (core->out != DType::F16)  // graph files add up in f32
      makers.push_back({std::string(core->name), [core, index] { return unitCase(*core, index); }});
    ++index;
  }
  for (const auto& move : kMoves) makers.push_back({move[0], [&move, halves] { return moveCase(move, halves); }});
  return makers;
}

std::vector<GpuCaseMaker> opsCases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SVOD_OPS_DIR)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<GpuCaseMaker> makers;
  for (const auto& path : paths)
    for (int level : {0, 1}) makers.push_back({path.string(), [path, level] { return opsCase(path, level); }});
  return makers;
}

}  // namespace

Result<std::vector<GpuCaseMaker>> gpuCases(const std::string& group, uint64_t count, const std::string& arch) {
  if (group == "units") return unitCases(arch);
  if (group == "ops") return opsCases();
  const auto drawn = group == "random" ? randomCase : group == "products" ? productCase : nullptr;
  if (!drawn) return fail(Diag::Usage, "no group is called '" + group + "'", "groups are units, ops, products, random");
  std::vector<GpuCaseMaker> makers;
  for (uint64_t seed = 0; seed < count; ++seed)
    makers.push_back({group + " " + std::to_string(seed), [drawn, seed] { return drawn(seed); }});
  return makers;
}

}  // namespace svod
