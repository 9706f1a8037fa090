#include "ir/op.h"

#include <array>

namespace svod {

namespace {

constexpr uint8_t T = 1, K = 2, L = 4, P = 8;
constexpr OpInfo kOps[] = {
#define OP(name, text, min, max, arg, stages, traits, what) {#name, text, min, max, ArgKind::arg, stages, traits, what},
#include "ir/ops.def"
#undef OP
};
constexpr size_t kOpCount = std::size(kOps);

constexpr auto kOpList = [] {
  std::array<Op, kOpCount> list{};
  for (size_t i = 0; i < kOpCount; ++i) list[i] = static_cast<Op>(i);
  return list;
}();

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<size_t>(op)]; }
std::span<const Op> allOps() { return kOpList; }

std::optional<Op> opFromText(std::string_view text) {
  for (Op op : kOpList)
    if (info(op).text == text) return op;
  return std::nullopt;
}

std::string_view toText(Stage stage) {
  switch (stage) {
    case Stage::Tensor: return "tensor";
    case Stage::Kernel: return "kernel";
    case Stage::Lowered: return "lowered";
    case Stage::Linear: return "linear";
  }
  return "?";
}

}  // namespace svod
