#include "cost/parameters.h"

namespace svod {

namespace {

#define PARAMETER(type, name, value, what, from) {std::string_view(#name).substr(1), value, what, Origin::from},
constexpr ParameterInfo kParameters[] = {
#include "cost/parameters.def"
};
#undef PARAMETER

}  // namespace

std::span<const ParameterInfo> allParameters() { return kParameters; }

}  // namespace svod
