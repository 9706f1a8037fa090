// What stands in braces behind the sources of a node of `.uop` text.
#pragma once
#include <string>
#include <vector>

#include "ir/text_cursor.h"

namespace svod {

/// Reads the argument of an op from a line.
class ArgumentReader : protected LineCursor {
 protected:
  using LineCursor::LineCursor;

  /// `{..}`, or nothing for ops without argument; `axes` and `name` keep what the returned arg points to.
  Result<Arg> argument(Op op, std::vector<int32_t>& axes, std::string& name);

 private:
  Result<Arg> argumentBody(ArgKind kind, std::vector<int32_t>& axes, std::string& name);
  Result<Arg> slotArg();
  Result<Arg> varArg(std::string& name);
  Result<Arg> axisArg();
  Result<Arg> reduceArg(std::vector<int32_t>& axes);
  Status axisList(std::vector<int32_t>& axes, bool first);
};

}  // namespace svod
