#include "ir/text_arguments.h"

#include <bit>

#include "ir/local_memory.h"

namespace svod {

namespace {

constexpr Space kSpaces[] = {Space::Global, Space::Local, Space::Reg, Space::Stream};
constexpr AxisType kAxisTypes[] = {AxisType::Loop,   AxisType::Serial, AxisType::Thread, AxisType::Global,
                                   AxisType::Local,  AxisType::Group,  AxisType::Upcast, AxisType::Vector,
                                   AxisType::Reduce, AxisType::Unroll, AxisType::Dot,    AxisType::Warp,
                                   AxisType::Core,   AxisType::Spread};

}  // namespace

Result<Arg> ArgumentReader::argument(Op op, std::vector<int32_t>& axes, std::string& name) {
  ArgKind kind = info(op).arg;
  if (kind == ArgKind::None) return Arg{};
  SVOD_CHECK(expect('{'));
  SVOD_TRY(Arg arg, argumentBody(kind, axes, name));
  SVOD_CHECK(expect('}'));
  return arg;
}

Result<Arg> ArgumentReader::argumentBody(ArgKind kind, std::vector<int32_t>& axes, std::string& name) {
  switch (kind) {
    case ArgKind::Slot: return slotArg();
    case ArgKind::Var: return varArg(name);
    case ArgKind::Axis: return axisArg();
    case ArgKind::Axes: {
      SVOD_CHECK(axisList(axes, true));
      return Arg(AxesArg{axes});
    }
    case ArgKind::Reduce: return reduceArg(axes);
    case ArgKind::Name: {
      SVOD_TRY(name, quotedName());
      return Arg(NameArg{name});
    }
    case ArgKind::Custom: {
      SVOD_TRY(name, quotedName());
      SVOD_CHECK(expect(','));
      SVOD_TRY(int32_t inputs, integer<int32_t>());
      return Arg(CustomArg{name, inputs});
    }
    default: return Arg{};
  }
}

Result<Arg> ArgumentReader::slotArg() {
  SVOD_TRY(uint32_t slot, integer<uint32_t>());
  SlotArg arg{slot};
  if (accept(',')) {
    SVOD_TRY(arg.space, keyword(kSpaces, "an address space"));
  }
  while (accept(',')) {
    skipSpace();
    const size_t start = at_;
    const std::string_view key = word();
    if (key != "swizzle" && key != "ring")
      return errorAt(start, Diag::Syntax, "'" + std::string(key) + "' is nothing that a buffer has",
                     "write `swizzle 128` or `ring 4`");
    SVOD_TRY(const int amount, integer<int>());
    const bool isRing = key == "ring";
    const bool isThere = isRing ? amount <= UINT8_MAX : std::has_single_bit(static_cast<unsigned>(amount));
    if (amount < 1 || !isThere)
      return errorAt(start, Diag::Syntax, "no buffer has a " + std::string(key) + " of " + std::to_string(amount),
                     isRing ? "a ring has 1 to 255 stages" : "the bytes of a swizzled row are a power of two");
    if (isRing)
      arg.ring = static_cast<uint8_t>(amount);
    else
      arg.swizzle = swizzleOf(amount);
  }
  return Arg(arg);
}

Result<Arg> ArgumentReader::varArg(std::string& name) {
  SVOD_TRY(name, quotedName());
  SVOD_CHECK(expect(','));
  SVOD_TRY(int64_t min, integer<int64_t>());
  SVOD_CHECK(expect(','));
  SVOD_TRY(int64_t max, integer<int64_t>());
  VarArg arg{name, min, max};
  if (accept(',')) {
    SVOD_TRY(arg.likely, integer<int64_t>());
  }
  return Arg(arg);
}

Result<Arg> ArgumentReader::axisArg() {
  SVOD_TRY(uint32_t id, integer<uint32_t>());
  SVOD_CHECK(expect(','));
  SVOD_TRY(AxisType type, keyword(kAxisTypes, "an axis type"));
  return Arg(AxisArg{id, type});
}

Result<Arg> ArgumentReader::reduceArg(std::vector<int32_t>& axes) {
  skipSpace();
  size_t start = at_;
  std::string_view text = word();
  std::optional<Op> op = opFromText(text);
  if (!op) return errorAt(start, Diag::UnknownOp, "unknown op '" + std::string(text) + "'", "use add, mul, max or min");
  SVOD_CHECK(axisList(axes, false));
  return Arg(ReduceArg{*op, axes});
}

Status ArgumentReader::axisList(std::vector<int32_t>& axes, bool first) {
  skipSpace();
  while (peek() != '}') {
    if (!first) SVOD_CHECK(expect(','));
    first = false;
    SVOD_TRY(int32_t axis, integer<int32_t>());
    axes.push_back(axis);
    skipSpace();
  }
  return {};
}

}  // namespace svod
