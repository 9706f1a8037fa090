// The text of a file that errors point into.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace svod {

class SourceText {
 public:
  explicit SourceText(std::string text);
  /// A place with what stands around it: the line, of which long ones are cut. Without it where the text has no such
  /// place.
  SourceLoc at(std::string file, int line, int column) const;

 private:
  std::string_view line(int number) const;  // from 1 on, without its end

  std::string text_;
  std::vector<size_t> begins_;  // of lines
};

}  // namespace svod
