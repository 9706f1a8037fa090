// Dot products of bf16 as code: with the instructions, each of which is spelled out here for machines without them, and
// without.
#include <catch2/catch.hpp>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "choose/choose.h"
#include "choose/native.h"
#include "facts/patterns.h"
#include "opts/kernels.h"
#include "opts/replay.h"
#include "target/cpu/emit.h"
#include "toolchain/linker.h"
#include "toolchain/object.h"

using namespace svod;

namespace {

Caps fastCaps() {
  Caps caps = capsOf(nativeCpu(), Numerics::Fast);
  caps.bf16Dots = true;
  return caps;
}

void requireSame(UOp sink, NativeKernel kernel) {
  Buffers buffers = makeBuffers(sink);
  std::vector<void*> pointers;
  for (HostTensor& b : buffers) pointers.push_back(b.data.data());
  kernel.run(pointers);
  REQUIRE(sameBuffers(resultOf(sink), buffers, 1e-5));
}

// What vdpbf16ps does: the second product of a pair is added, then the first one.
llvm::Value* spelledOut(llvm::IRBuilder<>& b, const llvm::CallInst& call) {
  llvm::Value* sum = call.getArgOperand(0);
  const int lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(sum->getType())->getNumElements());
  for (const int place : {1, 0}) {
    llvm::SmallVector<int> mask;
    for (int i = 0; i < lanes; ++i) mask.push_back(2 * i + place);
    const auto factor = [&](unsigned k) {
      return b.CreateFPExt(b.CreateShuffleVector(call.getArgOperand(k), mask), sum->getType());
    };
    sum = b.CreateFAdd(sum, b.CreateFMul(factor(1), factor(2)));
  }
  return sum;
}

/// Replaces the instructions and returns how many there were of the one for `lanes` sums.
int spellOut(llvm::Module& module, int lanes) {
  int found = 0;
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      const auto id = call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic;
      if (id == llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512) calls.push_back(call), found += lanes == 16;
      if (id == llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256) calls.push_back(call), found += lanes == 8;
      if (id == llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128) calls.push_back(call), found += lanes == 4;
    }
  for (llvm::CallInst* call : calls) {
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(spelledOut(b, *call));
    call->eraseFromParent();
  }
  return found;
}

NativeKernel withInstructions(Graph& g, UOp sink, std::span<const OptOp> opts, int lanes) {
  const LinearKernel linear = linearOf(g, sink, opts, fastCaps());
  const CpuTarget with = makeCpuTarget("x86_64-unknown-linux-gnu", "sapphirerapids").value();
  const auto module = emitLlvm(std::span(&linear, 1), with);
  if (!module) FAIL(toText(module.error()));
  CHECK(spellOut(*module->module, lanes) > 0);
  const auto object = emitObject(*module->module, nativeCpu(), OptLevel::O1);
  if (!object) FAIL(toText(object.error()));
  const auto bytes = Linker("/tmp").linkShared(std::span(&*object, 1));
  if (!bytes) FAIL(toText(bytes.error()));
  auto library = std::make_unique<SharedLibrary>(*bytes);
  if (!library->error().empty()) FAIL(library->error());
  return {std::move(library), linear};
}

constexpr Sizes kSizes[] = {{24, 64, 32}, {13, 45, 7}, {9, 20, 33}};

}  // namespace

TEST_CASE("Dot products of bf16 compute the same, also in code for CPUs without them") {
  for (bool byRows : {false, true})
    for (const Sizes& s : kSizes) {
      Graph g;
      UOp sink = buildBf16Matmul(g, s, byRows);
      const std::vector<OptOp> chosen = chooseOpts(g, sink, fastCaps());
      CHECK(toText(chosen).starts_with("dot(k0,2)"));
      for (bool widened : {false, true}) {
        if (!widened && !nativeCpu().hasBf16Dots()) continue;  // LLVM would call a function of its runtime
        Caps caps = fastCaps();
        caps.bf16Dots = !widened;
        requireSame(sink, compileNative(g, sink, chosen, caps));
        for (const char* text : {"dot(2,2)", "dot(2,2) vector(1,2)", "dot(2,2) vector(1,8)"})
          requireSame(sink, compileNative(g, sink, *parseOpts(text), caps));
      }
    }
}

TEST_CASE("Dot products of bf16 compute the same with the instructions of x86") {
  if (nativeCpu().arch != Arch::X86_64) return;
  for (bool byRows : {false, true})
    for (const Sizes& s : kSizes)
      for (const auto& [lanes, list] : {std::pair{4, "dot(2,2) vector(1,4)"},
                                        {8, "dot(2,2) vector(1,8) upcast(0,3)"},
                                        {16, "dot(2,2) vector(1,16) upcast(0,2)"},
                                        {16, "dot(2,2) vector(1,32)"},
                                        {16, "dot(2,2) order(1,0) pack(2,2,0) vector(0,16) upcast(1,4)"}}) {
        INFO(list);
        Graph g;
        UOp sink = buildBf16Matmul(g, s, byRows);
        requireSame(sink, withInstructions(g, sink, *parseOpts(list), lanes));
      }
}

TEST_CASE("Lanes lie along rows of blocks of bytes only where a panel of these is packed") {
  for (const int64_t rows : {8, 16}) {
    Graph g;
    Caps caps = capsOf(makeCpuTarget("x86_64-unknown-linux-gnu", "haswell").value(), Numerics::Contract);
    caps.constants = {2, 3};
    const std::string list = toText(chooseOpts(g, buildByteBlocks(g, {rows, 2048, 64}), caps));
    INFO(list);
    CHECK(list.starts_with("dot(k2,4)"));
    CHECK((list.find("vector(n0") == list.npos || list.find("pack(1,") != list.npos));
  }
}

TEST_CASE("Blocks of bytes that are scaled before they are added up are dot products in registers") {
  for (const Sizes& s : {Sizes{1, 80, 5}, {9, 45, 3}, {4, 16, 1}, {3, 1, 7}}) {
    Graph g;
    UOp sink = buildByteBlocks(g, s);
    Caps caps = capsOf(nativeCpu(), Numerics::Contract);
    caps.constants = {2, 3};  // that lie as the kernel reads them
    CHECK(patternOf(sink) == Pattern::Gemm);
    std::vector<OptOp> chosen = chooseOpts(g, sink, caps);
    INFO(toText(chosen));
    if (s.n >= 16 && (caps.mixedDots || caps.likeDots)) CHECK(toText(chosen).starts_with("dot(k2,4) unroll(k1,2)"));
    caps.constants.clear();
    for (const char* list :
         {"", "vector(k2,8)", "merge(k1,k2) vector(k1+k2,16)", "unroll(k1,2) vector(k2,4)", "dot(k2,4) vector(k1,2)"}) {
      INFO(list);
      if (auto opts = parseOpts(list); applyOpts(g, sink, *opts, caps))
        requireSame(sink, compileNative(g, sink, *opts, caps));
    }
    requireSame(sink, compileNative(g, sink, chosen, caps));
  }
}
