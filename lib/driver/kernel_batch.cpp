#include "driver/kernel_batch.h"

#include <array>
#include <bit>

#include "data/sha256.h"

namespace svod {

Result<std::string> emitTogether(std::span<CompiledKernel* const> kernels, const CompileOptions& options) {
  std::vector<LinearKernel> linear;
  for (CompiledKernel* kernel : kernels) linear.push_back(std::move(kernel->linear));
  return options.target->emitTogether(linear, options.machine);
}

std::string codeHash(const CompiledKernel& kernel) {
  std::string text;
  const auto add = [&](uint64_t number) {
    const auto bytes = std::bit_cast<std::array<char, sizeof number>>(number);
    text.append(bytes.data(), bytes.size());
  };
  // A node's hash says what it is and from what; the list, in which order. Loads and stores of other places differ.
  for (UOp n : kernel.linear.ops) add(n.hash().hi), add(n.hash().lo);
  for (const KernelParam& p : kernel.linear.params) add(p.inPlace ? 1 : 0);
  add(static_cast<uint64_t>(kernel.linear.scratchBytes));
  return sha256Hex(text + toText(kernel.layouts)).substr(0, 32);
}

}  // namespace svod
