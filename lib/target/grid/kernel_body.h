// The statements of a kernel as they are written one after the other (an internal header of the room).
#pragma once
#include <string>
#include <utility>

#include "target/c/c_dialect.h"
#include "target/grid/lane_text.h"

namespace svod {

/// Statements stand as deep as blocks are open. What they define is known to the text of the values.
class KernelBody {
 public:
  KernelBody(const CDialect& dialect, const LinearKernel& kernel) : dialect_(dialect), values_(kernel) {}

  const CDialect& dialect() const { return dialect_; }
  std::string typeName(DType dtype) const { return std::string(dialect_.typeName(dtype)); }

  const LaneText& values() const { return values_; }
  /// Says how the lanes of a value read that got other names than its own.
  void name(UOp value, std::vector<std::string> lanes) { values_.set(value, std::move(lanes)); }

  void line(const std::string& text) { text_ += std::string(2 * static_cast<size_t>(depth_), ' ') + text + "\n"; }
  /// A constant with the name of a lane; f16 is its bits.
  void define(UOp value, int lane, const std::string& text);
  void open(const std::string& head) { line(head + " {"), ++depth_; }
  void close() { --depth_, line("}"); }

  /// All of them, without what stands around the body.
  const std::string& text() const { return text_; }

 private:
  const CDialect& dialect_;
  LaneText values_;
  std::string text_;
  int depth_ = 1;
};

}  // namespace svod
