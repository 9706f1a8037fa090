// tc: legality, what it makes of a kernel, and its value on emulated warps.
#include "opts/tensor_core_kernels.h"

#include <map>
#include <random>

#include "choose/choose.h"
#include "facts/axes.h"
#include "ir/text.h"
#include "opts/emulate.h"
#include "opts/replay.h"
#include "target/emittable.h"

using namespace svod;

namespace {

const TensorCore& coreNamed(std::string_view name) {
  const TensorCore* core = findTensorCore(name);
  REQUIRE(core);
  return *core;
}

/// Those whose product is a node of its own (wmma): products of warpgroups are instructions on memory.
std::vector<const TensorCore*> coresOfWarps() {
  std::vector<const TensorCore*> cores;
  for (const TensorCore& core : allTensorCores())
    if (!core.isOfWarpgroup()) cores.push_back(&core);
  return cores;
}

Caps capsWith(std::vector<const TensorCore*> cores) {
  Caps caps = gpuCaps(std::move(cores));
  caps.numerics = Numerics::Fast;
  return caps;
}

int wmmasOf(const LinearKernel& kernel) {
  int count = 0;
  for (UOp n : kernel.ops) count += n.op() == Op::Wmma;
  return count;
}

Result<UOp> tuned(Graph& g, UOp sink, const std::string& text, const Caps& caps) {
  auto opts = parseOpts(text);
  REQUIRE(opts);
  return applyOpts(g, sink, *opts, caps);
}

// Small numbers add up exactly in every dtype of a result but bf16.
double tolerance(const TensorCore& core) { return core.out == DType::BF16 ? 0.02 : 1e-5; }

// The kernel with opts keeps its value as it is, and on threads where tensor cores multiply.
UOp requireSame(Graph& g, UOp sink, const std::string& text, const TensorCore& core) {
  INFO(core.name << " " << text << "\n" << toUopText(sink));
  auto changed = tuned(g, sink, text, capsWith({&core}));
  if (!changed) FAIL(toText(changed.error()));
  CHECK(verifyText(*changed) == "");
  const Buffers expected = resultOf(sink);
  CHECK(sameBuffers(expected, resultOf(*changed), tolerance(core)));
  const LinearKernel threads = threadsOf(g, *changed);
  CHECK(wmmasOf(threads) > 0);
  UOp root = g.make(Op::Sink, DType::Void, {threads.ops.back()});
  if (Status status = verify(root, Stage::Linear); !status) FAIL(toText(status.error()));
  if (Status status = checkEmittable(threads, false, true); !status) FAIL(toText(status.error()));
  CHECK(sameBuffers(expected, emulated(threads, *changed), tolerance(core)));
  return *changed;
}

std::string errorOf(Graph& g, UOp sink, const std::string& text, const Caps& caps) {
  auto changed = tuned(g, sink, text, caps);
  INFO(text);
  REQUIRE_FALSE(changed);
  CHECK(changed.error()->diag == Diag::BadOpt);
  return toText(changed.error());
}

}  // namespace

namespace {

// Rows 16 * r0 + 8 * r8 + r6, columns 8 * r1 + 2 * r7 + r9, terms 16 * r2 + r5.
constexpr std::string_view kTiledProduct = R"(%0 = param 512 {0} : f32[512]
%1 = range 2 {0, loop} : index
%2 = mul %1, 256 : index
%3 = range 2 {8, core} : index
%4 = mul %3, 128 : index
%5 = add %2, %4 : index
%6 = range 8 {6, warp} : index
%7 = mul %6, 16 : index
%8 = add %5, %7 : index
%9 = range 2 {1, loop} : index
%10 = mul %9, 8 : index
%11 = add %8, %10 : index
%12 = range 4 {7, warp} : index
%13 = mul %12, 2 : index
%14 = add %11, %13 : index
%15 = range 2 {9, core} : index
%16 = add %14, %15 : index
%17 = index %0, %16 : f32
%18 = param 1536 {1} : f16[1536]
%19 = mul %1, 768 : index
%20 = mul %3, 384 : index
%21 = add %19, %20 : index
%22 = mul %6, 48 : index
%23 = add %21, %22 : index
%24 = range 3 {2, reduce} : index
%25 = mul %24, 16 : index
%26 = add %23, %25 : index
%27 = range 16 {5, core} : index
%28 = add %26, %27 : index
%29 = index %18, %28 : f16
%30 = load %29 : f16
%31 = cast %30 : f32
%32 = param 768 {2} : f16[768]
%33 = mul %24, 256 : index
%34 = mul %27, 16 : index
%35 = add %33, %34 : index
%36 = add %35, %10 : index
%37 = add %36, %13 : index
%38 = add %37, %15 : index
%39 = index %32, %38 : f16
%40 = load %39 : f16
%41 = cast %40 : f32
%42 = mul %31, %41 : f32
%43 = reduce %42, %24, %27 {add} : f32
%44 = store %17, %43
%45 = end %44, %1, %9, %6, %12, %3, %15
%46 = sink %45
)";

}  // namespace

TEST_CASE("A tile becomes the lanes of a warp, elements of each, and the terms of one instruction") {
  Graph g;
  const TensorCore& core = coreNamed("m16n8k16-f16-f32");
  UOp sink = requireSame(g, buildProduct(g, {32, 16, 48}, core), "tc(0,0,1,2)", core);
  CHECK(describeAxes(sink) == "0 loop 2, 1 loop 2, 2 reduce 3");
  CHECK(toUopText(sink) == kTiledProduct);
  UOp one = requireSame(g, buildProduct(g, {16, 8, 16}, core), "tc(0,0,1,2)", core);
  CHECK(describeAxes(one) == "none");
}

TEST_CASE("Every tensor core multiplies whole, odd and small extents") {
  for (const TensorCore* core : coresOfWarps())
    for (Sizes s : {Sizes{32, 16, 32}, Sizes{19, 21, 41}, Sizes{6, 5, 9}}) {
      Graph g;
      requireSame(g, buildProduct(g, s, *core), "tc(0,0,1,2)", *core);
      requireSame(g, buildProduct(g, s, *core), "global(0,1) tc(0,1,0,2)", *core);  // the transposed product
    }
}

TEST_CASE("Sums of products of all forms") {
  for (const ProductKernel& kernel : productKernels())
    for (const TensorCore* core : tensorCoresOf(GpuFamily::Cuda, 80)) {
      INFO(kernel.name);
      Graph g;
      requireSame(g, kernel.build(g, {19, 11, 21}, *core), "tc(0," + std::string(kernel.axes) + ")", *core);
    }
}

TEST_CASE("Fragments share loads in a register tile, warps share a workgroup, and threads a sum") {
  Graph g;
  const TensorCore& core = coreNamed("m16n8k16-bf16-f32");
  UOp sink = buildProduct(g, {38, 26, 40}, core);
  const struct {
    const char* opts;
    int wmmas;
  } kLists[] = {{"tc(0,0,1,2) upcast(0,2) upcast(1,4)", 8},
                {"global(0,1) tc(0,0,1,2) local(0,2) local(2,3)", 1},
                {"tc(0,0,1,2) unroll(2,2) upcast(1,2)", 4},
                {"tc(0,0,1,2) acc(2,3)", 3},
                {"tc(0,0,1,2) group(2,2)", 1},
                {"tc(0,0,1,2) local(0,2) grouptop(3,3) upcast(2,2)", 2},
                {"tile(0,32) tile(3,32) tc(0,1,2,4)", 1},
                {"tc(0,0,1,2) merge(0,1) global(0)", 1},
                {"tile(1,16) pack(2,3,2) tc(0,0,2,3) local(0,2)", 1}};
  for (auto [opts, wmmas] : kLists) {
    INFO(opts);
    CHECK(wmmasOf(threadsOf(g, requireSame(g, sink, opts, core))) == wmmas);
  }
}

TEST_CASE("The list of docs/opts.md shares fragments between the tiles of a warp") {
  Graph g;
  const TensorCore& core = coreNamed("m16n8k16-f16-f32");
  UOp sink = requireSame(g, buildProduct(g, {64, 64, 64}, core),
                         "global(0,1) tc(0,0,1,2) upcast(0,2) upcast(1,4) local(0,2) local(2,2) unroll(4,2)", core);
  const LinearKernel threads = threadsOf(g, sink);
  CHECK(wmmasOf(threads) == 2 * 8);
  int loads = 0;
  for (UOp n : threads.ops)
    if (n.op() == Op::Load && storageOf(n.src(0)).op() == Op::Param) loads += n.lanes();
  CHECK(loads == 2 * (2 * core.a.elements() + 4 * core.b.elements()));
}

TEST_CASE("Lanes of a warp are neighbours in a workgroup of many axes") {
  Graph g;
  const TensorCore& core = coreNamed("m16n8k8-f16-f32");
  const ProductKernel& batches = productKernels()[3];
  REQUIRE(batches.name == "batches");
  UOp sink = batches.build(g, {40, 30, 20}, core);
  for (const char* opts : {"tc(0,1,2,3) local(0,2)", "tc(0,1,2,3) local(1,3) local(3,2) group(5,3)",
                           "tc(0,1,2,3) local(0,2) local(2,2) local(4,3) group(6,2) upcast(4,2)"}) {
    INFO(opts);
    const LinearKernel threads = threadsOf(g, requireSame(g, sink, opts, core));
    for (UOp n : threads.ops)
      if (n.op() == Op::Special && n.argAs<VarArg>().name == "lidx0") CHECK(n.src(0).constInt() % core.threads() == 0);
  }
}

TEST_CASE("What lies beyond the terms of a sum is in no product") {
  Graph g;
  const TensorCore& core = coreNamed("m16n8k8-f16-f32");
  for (int64_t terms : {5, 13}) {  // masked, and a last step that starts earlier
    UOp sink = buildProduct(g, {16, 8, terms}, core);
    auto changed = tuned(g, sink, "tc(0,0,1,2)", capsWith({&core}));
    REQUIRE(changed);
    Buffers expected = makeBuffers(sink), got;
    expected[1].set(2, Scalar::ofFloat(DType::F16, HUGE_VAL));  // meets numbers only
    expected[2].set(3 * 8, Scalar::ofFloat(DType::F16, std::nan("")));
    got = expected;
    REQUIRE(interpretKernel(sink, expected, {}));
    REQUIRE(interpretLinear(threadsOf(g, *changed), got, {}));
    for (int64_t i = 0; i < expected[0].numel(); ++i) CHECK(expected[0].at(i) == got[0].at(i));
  }
}

TEST_CASE("Tiles of symbolic extents are masked, whatever the extents are in a run") {
  Graph g;
  const TensorCore& core = coreNamed("m16n8k16-bf16-f32");
  UOp sink = buildRaggedProduct(g, {40, 20, 40}, core);
  auto changed = tuned(g, sink, "tc(0,0,1,2) upcast(0,2) local(1,2) unroll(3,2)", capsWith({&core}));
  REQUIRE(changed);
  const LinearKernel threads = threadsOf(g, *changed);
  for (int64_t rows : {1, 16, 33, 40})
    for (int64_t columns : {1, 8, 20})
      for (int64_t terms : {1, 16, 17, 40}) {
        CAPTURE(rows, columns, terms);
        const VariableValues values{{"rows", rows}, {"columns", columns}, {"terms", terms}};
        Buffers expected = makeBuffers(sink), got = expected;
        REQUIRE(interpretKernel(sink, expected, values));
        REQUIRE(interpretLinear(threads, got, values));
        CHECK(sameBuffers(expected, got, tolerance(core)));
      }
}

TEST_CASE("The heuristic gives sums of products to the tensor core that takes the most terms at once") {
  const Caps cuda = capsWith(tensorCoresOf(GpuFamily::Cuda, 89));
  auto chosen = [&](const char* dtypes, const Sizes& sizes, const Caps& caps) {
    Graph g;
    return toText(chooseOpts(g, buildProduct(g, sizes, coreNamed(dtypes)), caps));
  };
  CHECK_THAT(chosen("m16n8k16-f16-f32", {512, 256, 64}, cuda), Catch::Contains("tc(2,n0.i,n1.i,"));
  // Zeros stand in place of terms that are not there: factors of 8 terms would be loaded lane by lane.
  CHECK_THAT(chosen("m16n8k16-f16-f32", {512, 256, 72}, cuda), Catch::Contains("tc(2,n0.i,n1.i,"));
  CHECK_THAT(chosen("m16n8k16-f16-f32", {100, 50, 70}, cuda), Catch::Contains("tc(2,"));
  CHECK_THAT(chosen("m16n8k16-f16-f32", {512, 3, 64}, cuda), Catch::Contains("tc(2,"));
  CHECK_THAT(chosen("m16n8k16-f16-f32", {512, 1, 64}, cuda), !Catch::Contains("tc"));
  CHECK_THAT(chosen("m16n8k8-tf32-f32", {512, 256, 64}, cuda), Catch::Contains("tc(7,"));
  Caps contract = cuda;
  contract.numerics = Numerics::Contract;
  CHECK_THAT(chosen("m16n8k8-tf32-f32", {512, 256, 64}, contract), !Catch::Contains("tc"));
  for (const ProductKernel& kernel : productKernels())
    for (const char* name : {"m16n8k16-f16-f32", "m8n8k8-f32-f32"}) {
      Graph g;
      const TensorCore& core = coreNamed(name);
      UOp sink = kernel.build(g, {35, 17, 24}, core);
      const std::string list = toText(chooseOpts(g, sink, capsWith({&core})));
      CHECK_THAT(list, Catch::Contains("tc("));
      requireSame(g, sink, list, core);
    }
}

TEST_CASE("tc says why it does not apply") {
  Graph g;
  const TensorCore &half = coreNamed("m16n8k16-f16-f32"), &tf32 = coreNamed("m16n8k8-tf32-f32");
  const Caps caps = capsWith({&half, &tf32});
  UOp sink = buildProduct(g, {32, 16, 48}, half), floats = buildProduct(g, {32, 16, 48}, tf32);
  auto says = [&](UOp kernel, const char* text, const char* part, const Caps& on) {
    const std::string error = errorOf(g, kernel, text, on);
    INFO(error);
    CHECK(error.find(part) != std::string::npos);
    CHECK(error.find("axes: ") != std::string::npos);
  };
  says(sink, "tc(0,0,1,2)", "the target has neither tensor cores nor tile units", {});
  says(sink, "tc(0,0,1,2)", "the target has no tensor cores", capsWith({}));
  says(sink, "tc(2,0,1,2)", "tensor cores: 0 m16n8k16-f16-f32, 1 m16n8k8-tf32-f32", caps);
  says(sink, "tc(1,0,1,2)", "products of f16 and f16 are summed in f32, which m16n8k8-tf32-f32 does not", caps);
  says(floats, "tc(0,0,1,2)", "products of f32 and f32", caps);
  says(sink, "tc(0,2,1,0)", "axis 2 is a reduce axis", caps);
  says(sink, "tc(0,0,1,1)", "axis 1 is an output axis", caps);
  says(sink, "tc(0,0,0,2)", "one factor must depend on m", caps);
  says(buildMatmul(g, {32, 16, 48}), "tc(0,0,1,3)", "there is no axis 3", caps);
  says(buildRowSum(g, {32, 16, 0}), "tc(1,0,0,1)", "does not sum products", caps);
  says(buildGroups(g, {16, 16, 16}), "tc(1,0,1,2)", "one factor must depend on m", caps);
  says(buildTriangle(g, {32, 16, 48}, half), "tc(0,0,1,2)", "one factor must depend on m", caps);
  says(sink, "upcast(0,2) tc(0,0,1,2)", "put tc before upcast", caps);
  says(sink, "unroll(2,2) tc(0,0,1,2)", "put tc before upcast", caps);
  says(sink, "local(0,2) tc(0,0,2,3)", "put tc before local", caps);
  says(buildSoftmax(g, {16, 16, 0}), "tc(0,0,1,2)", "does not sum products", caps);
  says(sink, "group(2,2) tc(0,0,1,2)", "put tc before local", caps);
  says(sink, "tc(0,0,1,2) tc(0,0,1,2)", "already", caps);
  says(sink, "tc(0,0,1,2) vector(1,2)", "would not be one that its tensor core computes", caps);
  says(sink, "tc(0,0,1,2) pack(1,0,2)", "fill a local buffer of its own", caps);
  says(sink, "tc(0,0,1,2) nolocals", "has a workgroup axis already", caps);
  says(buildProduct(g, {4, 16, 48}, half), "tc(0,0,1,2)", "3/4 of the work useless", caps);
  Caps contract = caps, strict = caps;
  contract.numerics = Numerics::Contract, strict.numerics = Numerics::Strict;
  says(floats, "tc(1,0,1,2)", "compile with --numerics fast", contract);
  says(sink, "tc(0,0,1,2)", "strict numerics keep the order", strict);
  CHECK(errorOf(g, sink, "nolocals tc(0,0,1,2)", caps).find("nolocals stands before it") != std::string::npos);
}

namespace {

std::string randomList(std::mt19937& random, std::string_view axes) {
  auto pick = [&](int lo, int hi) {
    return std::to_string(lo + static_cast<int>(random() % static_cast<uint32_t>(hi - lo + 1)));
  };
  std::string text;
  for (int i = static_cast<int>(random() % 2); i > 0; --i) {
    const std::string before[] = {"global(0)", "tile(2," + pick(5, 20) + ")", "order(1,0)",
                                  "padto(0," + pick(2, 8) + ")"};
    text += before[random() % std::size(before)] + " ";
  }
  text += "tc(0," + std::string(axes) + ")";
  for (int i = static_cast<int>(random() % 7); i > 0; --i) {
    const std::string axis = pick(0, 4), amount = pick(2, 4);
    const std::string names[] = {"upcast", "local", "unroll", "acc", "group", "grouptop", "tile", "padto", "vector"};
    const std::string other[] = {"merge(0,1)", "order(1,0)", "global(0,1)", "pack(1," + axis + ")", "share(0,1)"};
    text += random() % 3 ? " " + names[random() % std::size(names)] + "(" + axis + "," + amount + ")"
                         : " " + other[random() % std::size(other)];
  }
  return text;
}

}  // namespace

TEST_CASE("Lists with tc are errors or keep the value, on random products, cores and sizes") {
  std::map<std::string_view, int> worked;
  std::map<OptKind, int> beside;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    auto upTo = [&](uint32_t n) { return 1 + static_cast<int64_t>(random() % n); };
    const ProductKernel& kernel = productKernels()[random() % productKernels().size()];
    const TensorCore& core = *coresOfWarps()[random() % coresOfWarps().size()];
    const Sizes sizes{upTo(40), upTo(20), upTo(core.out == DType::BF16 ? 16 : 40)};
    Graph g;
    UOp sink = kernel.build(g, sizes, core), original = sink;
    std::vector<OptOp> list;
    const auto drawn = parseOpts(randomList(random, kernel.axes));
    REQUIRE(drawn);
    for (const OptOp& opt : *drawn) {
      auto changed = applyOpt(g, sink, opt, capsWith({&core}));
      if (!changed) {
        REQUIRE(changed.error()->diag == Diag::BadOpt);
        continue;
      }
      sink = *changed;
      list.push_back(opt);
    }
    INFO("seed " << seed << " " << kernel.name << " " << core.name << " " << sizes.m << "x" << sizes.n << "x" << sizes.k
                 << ": " << toText(list) << "\n"
                 << toUopText(original) << "\n"
                 << toUopText(sink));
    const bool multiplies = std::ranges::any_of(list, [](const OptOp& opt) { return opt.kind == OptKind::Tc; });
    if (!multiplies) continue;
    ++worked[kernel.name], ++worked[core.name];
    for (const OptOp& opt : list) ++beside[opt.kind];
    requireSame(g, original, toText(list), core);
  }
  for (const ProductKernel& kernel : productKernels()) CHECK(worked[kernel.name] > 5);
  for (const TensorCore* core : coresOfWarps()) CHECK(worked[core->name] > 5);
  for (OptKind kind :
       {OptKind::Upcast, OptKind::Local, OptKind::Unroll, OptKind::Acc, OptKind::Group, OptKind::GroupTop,
        OptKind::Tile, OptKind::PadTo, OptKind::Merge, OptKind::Order, OptKind::Global})
    CHECK(beside[kind] > 1);
}
