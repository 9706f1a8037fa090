// The statements of a kernel as they are written one after the other (an internal header of the room).
#pragma once
#include <string>

#include "target/webgpu/op_text.h"
#include "target/webgpu/values.h"

namespace svod::webgpu {

/// Statements stand as deep as blocks are open.
class WgslBody {
 public:
  explicit WgslBody(const LinearKernel& kernel) : values_(kernel) {}

  Values& values() { return values_; }
  const Values& values() const { return values_; }
  const std::string& text() const { return text_; }

  void line(const std::string& text) { text_ += std::string(2 * static_cast<size_t>(depth_), ' ') + text + "\n"; }
  void open(const std::string& head) { line(head + " {"), ++depth_; }
  void close() { --depth_, line("}"); }
  /// A value with a name.
  void let(const std::string& name, DType dtype, const std::string& text) {
    line("let " + name + ": " + std::string(typeName(dtype)) + " = " + text + ";");
  }
  /// The same with the name of a lane.
  void define(UOp value, int lane, const std::string& text) { let(values_.laneName(value, lane), value.dtype(), text); }

 private:
  Values values_;
  std::string text_;
  int depth_ = 1;
};

/// Halves are combined until one lane is left. Verify if there is no text for the op.
Status printReduce(UOp reduce, WgslBody& body);
/// A sum per lane, of integers wrapping.
void printDot(UOp dot, WgslBody& body);
void printLoad(UOp load, WgslBody& body);
void printStore(UOp store, WgslBody& body);

}  // namespace svod::webgpu
