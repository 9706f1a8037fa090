// A ring of bulk copies as a graph: the interpreter, the text on the grid and NVRTC agree what it is.
#include "common/uop_text.h"
#include "cuda_grid/planted.h"
#include "interp/interp.h"
#include "ir/bulk_tensor.h"
#include "ir/verify.h"
#include "linearize/linearize.h"
#include "lower/legalize.h"
#include "lower/swizzle.h"
#include "target/cuda/nvrtc.h"
#include "target/cuda/print_cuda.h"

using namespace svod;

namespace {

constexpr int64_t kRows = 61, kColumns = 30, kStride = 32;

/// Each of 32 threads adds up a column of 61 rows, which come 8 at a time in two stages; columns 30 and 31 are none.
constexpr std::string_view kRing = R"(%0 = param 32 {0} : f32[32]
%1 = param 1952 {1} : f32[1952]
%2 = special 32 {"lidx0", 0, 0} : index
%3 = buffer 512 {0, local, swizzle 128} : f32[512]
%4 = buffer 2 {1, local} : u64[2]
%5 = gpu {"elect"} : bool
%6 = index %4, 0 : u64
%7 = index %4, 1 : u64
%8 = gpu %6, 1, %5 {"mbar_init"}
%9 = gpu %7, 1, %5 {"mbar_init"}
%10 = gpu %8, %9 {"fence_async"}
%11 = barrier %10
%12 = index %1, 0 : f32
%13 = stack 30, 61 : index[2]
%14 = stack 1, 32 : index[2]
%15 = stack 32, 8 : index[2]
%16 = gpu %12, %13, %14, %15, 128 {"tensor_map"}
%17 = gpu %6, 1024, %5, %11 {"mbar_expect"}
%18 = index %3, 0 : f32
%19 = stack 0, 0 : index[2]
%20 = gpu %18, %16, %19, %6, %5, %17 {"bulk_load"}
%21 = range 8 {0, loop} : index
%22 = floormod %21, 2 : index
%23 = floordiv %21, 2 : index
%24 = floormod %23, 2 : index
%25 = index %4, %22 : u64
%26 = gpu %25, %24, %20, %21 {"mbar_wait"}
%27 = barrier %26, %21
%28 = add %21, 1 : index
%29 = lt %28, 8 : bool
%30 = and %5, %29 : bool
%31 = floormod %28, 2 : index
%32 = index %4, %31 : u64
%33 = gpu %32, 1024, %30, %27, %21 {"mbar_expect"}
%34 = mul %31, 256 : index
%35 = index %3, %34 : f32
%36 = mul %28, 8 : index
%37 = stack 0, %36 : index[2]
%38 = gpu %35, %16, %37, %32, %30, %33 {"bulk_load"}
%39 = after %3, %27 : f32[512]
%40 = range 8 {1, loop} : index
%41 = mul %22, 256 : index
%42 = mul %40, 32 : index
%43 = add %41, %42 : index
%44 = add %43, %2 : index
%45 = index %39, %44 : f32
%46 = load %45 : f32
%47 = buffer 1 {0, reg} : f32[1]
%48 = index %47, 0 : f32
%49 = store %48, 0.0:f32
%50 = after %47, %49, %21, %40 : f32[1]
%51 = index %50, 0 : f32
%52 = load %51 : f32
%53 = add %52, %46 : f32
%54 = store %51, %53
%55 = end %54, %40
%56 = group %55, %38
%57 = end %56, %21
%58 = after %47, %57 : f32[1]
%59 = index %58, 0 : f32
%60 = load %59 : f32
%61 = index %0, %2 : f32
%62 = store %61, %60
%63 = sink %62)";

LinearKernel ring(Graph& g, bool isForCuda) {
  UOp sink = parse(g, kRing);
  if (const Status legal = verify(sink, Stage::Lowered); !legal) FAIL(toText(legal.error()));
  if (isForCuda) sink = legalize(g, swizzleBuffers(g, sink), {.nativeF16 = true, .narrowIndex = true});
  auto kernel = linearize(g, sink, "k", Numerics::Contract);
  if (!kernel) FAIL(toText(kernel.error()));
  return *kernel;
}

float valueAt(int64_t i) { return static_cast<float>(i * 7 % 23 - 11); }
float sumOf(int64_t column) {
  float sum = 0;
  for (int64_t row = 0; row < kRows && column < kColumns; ++row) sum += valueAt(row * kStride + column);
  return sum;
}

SvodMap mapOf(UOp node, const void* address) {
  const BulkTensor from = bulkTensorOf(node);
  SvodMap map{};
  map.address = address;
  map.dims = static_cast<uint8_t>(from.extents.size()), map.swizzle = static_cast<uint8_t>(from.swizzle);
  map.elementBytes = static_cast<uint8_t>(byteSize(from.from.dtype()));
  for (size_t d = 0; d < from.extents.size(); ++d) {
    map.extents[d] = static_cast<uint32_t>(from.extents[d].constInt()), map.box[d] = static_cast<uint16_t>(from.box[d]);
    if (d > 0) map.strides[d - 1] = static_cast<uint64_t>(from.strides[d]) * map.elementBytes;
  }
  return map;
}

std::string runOnGrid(const std::string& text, std::span<const UOp> maps, uint64_t sharedBytes, Delay delay,
                      std::vector<float>& sums) {
  alignas(16) static float tensor[kRows * kStride];
  for (int64_t i = 0; i < kRows * kStride; ++i) tensor[i] = valueAt(i);
  sums.assign(32, -1);
  auto code = HostKernel::load(text, "k", *compileOptions({}).linker);
  if (!code) FAIL(toText(code.error()));
  EmulatedGrid grid({delay, 3});
  code->use(grid.calls());
  GridLaunch launch;
  launch.function = code->function();
  launch.buffers = {{sums.data(), sums.size() * 4, true}, {tensor, sizeof tensor, false}};
  for (UOp map : maps) launch.maps[1] = mapOf(map, tensor);
  launch.threads = {32, 1, 1}, launch.sharedBytes = sharedBytes;
  return grid.run(launch);
}

}  // namespace

TEST_CASE("a ring of bulk copies adds up in the interpreter, before and after addresses are places in memory") {
  for (bool isForCuda : {false, true}) {
    std::vector<HostTensor> b{HostTensor::zeros(DType::F32, {32}), HostTensor::zeros(DType::F32, {kRows * kStride})};
    for (int64_t i = 0; i < kRows * kStride; ++i)
      b[1].set(i, Scalar::ofFloat(DType::F32, static_cast<double>(valueAt(i))));
    Graph g;
    const LinearKernel kernel = ring(g, isForCuda);
    CHECK(kernel.params[1].read);
    const Status done = interpretLinear(kernel, b, {});
    if (!done) FAIL(toText(done.error()));
    for (int64_t i = 0; i < 32; ++i) CHECK(b[0].at(i).asFloat() == static_cast<double>(sumOf(i)));
  }
}

TEST_CASE("the text of a ring of bulk copies adds up on the grid, and each step of it that is left out is found") {
  Graph g;
  const LinearKernel kernel = ring(g, true);
  const auto printed = printCuda(kernel, 2, 32);
  if (!printed) FAIL(toText(printed.error()));
  REQUIRE(printed->maps.size() == 1);
  CHECK(printed->alignment == std::vector<int64_t>{4, 16});
  const auto shared = static_cast<uint64_t>(kernel.scratchBytes);
  for (Delay delay : kDelays) {
    std::vector<float> sums;
    INFO("delay " << static_cast<int>(delay) << "\n" << printed->text);
    REQUIRE(runOnGrid(printed->text, printed->maps, shared, delay, sums) == "");
    for (int64_t i = 0; i < 32; ++i) CHECK(sums[static_cast<size_t>(i)] == sumOf(i));
    const std::vector<Mutant> faulty = withoutOneSync(printed->text);
    CHECK(faulty.size() == 8);  // two mbarriers, a fence, two meetings, two arrivals, a wait
    for (const auto& [text, without] : faulty) {
      INFO("without " << without);
      CHECK(runOnGrid(text, printed->maps, shared, delay, sums) != "");
    }
  }
}

TEST_CASE("NVRTC compiles a ring of bulk copies without a spill or a warning") {
  const auto nvrtc = Nvrtc::open("", {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"});
  if (!nvrtc) {
    WARN("skipped: NVRTC is not on this machine: " << toText(nvrtc.error()));
    return;
  }
  Graph g;
  const auto printed = printCuda(ring(g, true), 2, 32);
  if (!printed) FAIL(toText(printed.error()));
  for (const char* arch : {"sm_90", "sm_90a", "sm_100a", "sm_120"}) {
    const auto code = nvrtc->compile("k", std::string(cudaPrelude()) + printed->text, arch);
    INFO(arch);
    if (!code) FAIL(toText(code.error()));
    CHECK(code->spillBytes == 0);
    CHECK(code->warnings.empty());
  }
}
