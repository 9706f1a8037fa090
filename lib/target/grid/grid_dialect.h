// What differs between the languages of GPUs in which one thread of a workgroup is written, as data.
#pragma once
#include <string_view>

#include "target/c/c_dialect.h"

namespace svod {

/// In texts, `$n` is a number: threads of a workgroup, bytes or rounds; `$x $y $z` are threads along the axes.
struct GridDialect {
  const CDialect& ops;          // values, and names of their types
  std::string_view head;        // what stands in front of the name of a kernel
  std::string_view restricted;  // of a pointer that is the only way to what it points to
  std::string_view shared;      // declares svod_shared, the memory of a workgroup
  std::string_view rounds;      // how often the loop behind it is written out; empty where nothing says so
  /// In front of types of what lies in memory of the device, and in that of a workgroup.
  std::string_view inDevice = "", inShared = "";
  /// An argument is memory and how many bytes behind its start the elements begin, in place of an address.
  bool hasOffsets = false;
  /// Warps, their products and instructions; without, none reach the printer.
  bool hasWarps = true;
};

}  // namespace svod
