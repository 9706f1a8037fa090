#include "target/c/value_text.h"

#include <bit>

#include "target/c/c_dialect.h"

namespace svod {

std::string typeName(DType dtype) { return std::string(kC11.typeName(dtype)); }

std::string lanesType(DType dtype, int64_t count) {
  constexpr int64_t kLongestRegister = 64;  // bytes
  const bool isVector = dtype != DType::Bool && std::has_single_bit(static_cast<uint64_t>(count)) && count > 1 &&
                        count * byteSize(dtype) <= kLongestRegister;
  return isVector ? "svod_" + std::string(toText(dtype)) + "x" + std::to_string(count) : "";
}

ValueText::ValueText(const LinearKernel& kernel) : groups_(findLaneGroups(kernel)) {
  for (UOp n : kernel.ops) name_.emplace(n.id(), name_.size());
}

std::string ValueText::local(UOp n) const { return "v" + std::to_string(name_.at(n.id())); }

std::string ValueText::ref(UOp n, int group) const {
  n = behindAliases(n);
  if (n.isConst()) return literalText(n.constant());
  if (n.op() == Op::Ramp) return rampText(n, "l");
  if (n.rank() == 0) return local(n);
  return groupOf(n) == group ? laneName(n) : local(n) + "[l]";
}

std::string ValueText::rampText(UOp ramp, const std::string& lane) const {
  return "(" + ref(ramp.src(0), -1) + " + " + lane + ")";
}

std::string ValueText::element(UOp address, int group) const {
  UOp a = behindAliases(address);
  return local(storageOf(a)) + "[" + ref(a.src(1), group) + "]";
}

std::vector<std::string> ValueText::operands(UOp n, int group) const {
  std::vector<std::string> texts;
  for (UOp s : n.src()) texts.push_back(s.op() == Op::Index ? "" : ref(s, group));
  return texts;
}

std::string ValueText::storage(UOp n, int64_t count) const {
  const std::string type = groups_.byElement[n.id()] ? "" : lanesType(n.dtype(), count);
  if (!type.empty()) return type + " " + local(n);
  return typeName(n.dtype()) + " " + local(n) + "[" + std::to_string(count) + "]";
}

std::string ValueText::define(UOp n, const std::string& value) const {
  return "const " + typeName(n.dtype()) + " " + laneName(n) + " = " + value + ";";
}

}  // namespace svod
