#include "support/diagnostics.h"

namespace svod {

namespace {
constexpr DiagInfo kDiagnostics[] = {
#ifdef SVOD_SHIPPED_RUNTIME  // it lists none
#define DIAG(name, code, exit, what) {code, exit, {}},
#else
#define DIAG(name, code, exit, what) {code, exit, what},
#endif
#include "support/diagnostics.def"
#undef DIAG
};
}  // namespace

const DiagInfo& info(Diag diag) { return kDiagnostics[static_cast<size_t>(diag)]; }
std::span<const DiagInfo> allDiagnostics() { return kDiagnostics; }

}  // namespace svod
