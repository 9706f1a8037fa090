// The table of diagnostics: stable codes, exit codes and meanings. Rows live in diagnostics.def.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace svod {

enum class Diag : uint8_t {
#define DIAG(name, code, exit, what) name,
#include "support/diagnostics.def"
#undef DIAG
};

struct DiagInfo {
  std::string_view code;  // stable, kebab-case, printed in brackets after the message
  int exitCode;           // process exit status of a tool that ends with this error
  std::string_view what;  // one line for --list-diagnostics and the docs
};

const DiagInfo& info(Diag diag);
std::span<const DiagInfo> allDiagnostics();

}  // namespace svod
