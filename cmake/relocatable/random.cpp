// The C++ library takes random numbers from arc4random, which glibc has from 2.36 on. The system call that gives them
// is older, so programs with this function run where glibc is older too.
#include <sys/random.h>

extern "C" unsigned arc4random() noexcept;
extern "C" unsigned arc4random() noexcept {
  unsigned number = 0;
  while (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) {
  }
  return number;
}
