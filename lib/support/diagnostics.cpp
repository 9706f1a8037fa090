#include "support/diagnostics.h"

namespace svod {

namespace {
constexpr DiagInfo kDiagnostics[] = {
#define DIAG(name, code, exit, what) {code, exit, what},
#include "support/diagnostics.def"
#undef DIAG
};
}  // namespace

const DiagInfo& info(Diag diag) { return kDiagnostics[static_cast<size_t>(diag)]; }
std::span<const DiagInfo> allDiagnostics() { return kDiagnostics; }

}  // namespace svod
