// What programs need of libfmt.so, of which Debian has no archive: the functions that its headers can hold, once.
#undef FMT_SHARED
#define FMT_HEADER_ONLY
#include <fmt/format.h>

namespace {

template <class Function>
const void* place(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

namespace svod {
// Kept where programs ask for them, and dropped where none does.
extern const void* const kFmtFunctions[];
[[gnu::used]] const void* const kFmtFunctions[] = {
    place<std::string(fmt::string_view, fmt::format_args)>(&fmt::vformat),
    place<bool(uint32_t)>(&fmt::detail::is_printable),
    place<void(const char*)>(&fmt::detail::throw_format_error),
    place<fmt::detail::thousands_sep_result<char>(fmt::detail::locale_ref)>(&fmt::detail::thousands_sep_impl<char>),
};
}  // namespace svod
