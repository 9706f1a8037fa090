// What --list-NAME prints: the compiler's tables.
#pragma once
#include <span>
#include <string_view>

#include "flags.h"
#include "report/document.h"

namespace svod {

struct List {
  std::string_view name, flag, what;  // flag: "list-" and the name
  Table (*make)(const Flags&);
};

std::span<const List> allLists();

}  // namespace svod
