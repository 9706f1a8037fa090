#include "report/loops.h"

#include <map>

#include "ir/gpu_op.h"
#include "ir/graph.h"
#include "ir/text.h"

namespace svod {

namespace {

constexpr size_t kIndexLength = 60, kValueLength = 70;

std::string extentText(UOp range) {
  const UOp end = range.src(0);
  if (end.isConst()) return std::to_string(end.constInt());
  return toExpr(end, kIndexLength) + " (<=" + std::to_string(end.bounds().max) + ")";
}

/// `param0`, `acc1` for registers, `local2` for scratch.
std::string storageText(UOp storage) {
  storage = behindAliases(storage);
  const SlotArg& slot = storage.argAs<SlotArg>();
  const char* kind = storage.op() == Op::Param ? "param" : slot.space == Space::Reg ? "acc" : "local";
  return kind + std::to_string(slot.slot);
}

std::string addressText(UOp address) {
  address = behindAliases(address);
  if (address.op() != Op::Index) return toExpr(address, kIndexLength);
  const UOp index = address.src(1);
  std::string text = index.op() == Op::Ramp
                         ? toExpr(index.src(0), kIndexLength) + " .. +" + std::to_string(index.argAs<SlotArg>().slot)
                         : toExpr(index, kIndexLength);
  return storageText(address.src(0)) + "[" + text + "]";
}

/// What is stored: enough to recognize the line, the source has the rest.
std::string valueText(UOp value) {
  value = behindAliases(value);
  if (value.op() == Op::Load) return addressText(value.src(0));
  if (value.op() == Op::Const) return toExpr(value, kValueLength);
  std::string text(toText(value.op()));
  text += "(";
  for (size_t i = 0; i < value.srcCount(); ++i) {
    const UOp source = behindAliases(value.src(i));
    text += i > 0 ? ", " : "";
    text += source.op() == Op::Load    ? addressText(source.src(0))
            : source.op() == Op::Const ? toExpr(source, kValueLength)
                                       : std::string(toText(source.op())) + "(..)";
    if (text.size() > kValueLength) return text.substr(0, kValueLength) + "...";
  }
  return text + ")";
}

/// Stores with equal keys, one after the other, are copies that an opt made: only the first is shown.
std::string keyOf(UOp store) {
  const UOp address = behindAliases(store.src(0)), value = behindAliases(store.src(1));
  const UOp storage = behindAliases(address.src(0));
  const std::string place = storage.op() == Op::Param ? storageText(storage) : std::string(toText(storage.op()));
  return place + (store.srcCount() > 2 ? "?" : "=") + std::string(toText(value.op()));
}

class LoopPrinter {
 public:
  std::string print(const LinearKernel& kernel) {
    for (UOp node : kernel.ops) {
      if (node.op() == Op::Range) open(node);
      if (node.op() == Op::End) close();
      if (node.op() == Op::Store) store(node);
      if (node.op() == Op::Barrier) line("barrier");
      if (node.op() == Op::Gpu && node.dtype() == DType::Void) copy(node);
    }
    endRun();
    return std::move(text_);
  }

 private:
  void open(UOp range) {
    const AxisArg& axis = range.argAs<AxisArg>();
    const std::string type = axis.type == AxisType::Loop ? "" : " " + std::string(toText(axis.type));
    line("for r" + std::to_string(axis.id) + " in 0.." + extentText(range) + type);
    ++depth_;
  }
  void close() {
    endRun();
    depth_ -= depth_ > 0 ? 1 : 0;
  }
  void store(UOp node) {
    const std::string key = keyOf(node);
    if (key == runKey_ && ++runLength_ > 0) return;
    const std::string guard = node.srcCount() > 2 ? " if " + toExpr(node.src(2), kIndexLength) : "";
    line(addressText(node.src(0)) + " = " + valueText(node.src(1)) + guard);
    runKey_ = key;
  }
  void copy(UOp node) {
    const std::string name(node.argAs<NameArg>().name);
    if (name == runKey_ && ++runLength_ > 0) return;
    std::string text = name;
    for (UOp operand : operandsOf(node))
      text += " " + (operand.op() == Op::Index ? addressText(operand) : toExpr(operand, kIndexLength));
    line(text);
    runKey_ = name;
  }
  void endRun() {
    if (runLength_ > 0)
      text_ += std::string(2 * depth_, ' ') + "... and " + std::to_string(runLength_) + " more like it\n";
    runLength_ = 0;
    runKey_.clear();
  }
  void line(const std::string& content) {
    endRun();
    text_ += std::string(2 * depth_, ' ') + content + "\n";
  }

  std::string text_, runKey_;
  size_t depth_ = 0, runLength_ = 0;
};

}  // namespace

std::string loopsText(const LinearKernel& kernel) { return LoopPrinter().print(kernel); }

}  // namespace svod
