// What std::terminate calls where the C++ library is part of the runtime library: in place of a handler that prints,
// and with it a tenth of the library that turns names of types into text.
#include <cstdlib>
#include <exception>

namespace __cxxabiv1 {

extern std::terminate_handler __terminate_handler;
std::terminate_handler __terminate_handler = std::abort;

}  // namespace __cxxabiv1
