#include "plan/check_parts.h"

namespace svod {

[[gnu::noinline]] tl::unexpected<Error> bad(std::string_view where, std::string_view what) {
  return fail(Diag::BadPlan, says({where, ": ", what}), "compile the graph again");
}

[[gnu::noinline]] tl::unexpected<Error> bad(std::string_view where, std::initializer_list<Part> what) {
  return bad(where, says(what));
}

[[gnu::noinline]] std::string at(const char* list, size_t index) { return says({list, "[", index, "]"}); }

[[gnu::noinline]] std::string noSuch(const char* what, uint64_t id, size_t count) {
  return says({"there is no ", what, " ", id, " of ", count});
}

[[gnu::noinline]] std::string bytesOf(uint64_t offset, uint64_t size, uint64_t whole) {
  return says({"bytes ", offset, " to ", offset + size, " of ", whole});
}

}  // namespace svod
