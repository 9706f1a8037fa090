// What --list-NAME prints: the compiler's tables.
#pragma once
#include <span>
#include <string_view>

#include "report/document.h"

namespace svod {

struct List {
  std::string_view name, what;
  Table (*make)();
};

std::span<const List> allLists();

}  // namespace svod
