#include "runtime-min/processors.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

namespace svod {

namespace {

/// The beginning of a small file, and a 0; false where it cannot be read.
bool readText(const char* path, char* text, size_t room) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t length = ::read(fd, text, room - 1);
  ::close(fd);
  text[std::max<ssize_t>(length, 0)] = '\0';
  return length > 0;
}

/// Microseconds of processor time in a period; 0 without a bound, which is "max" or -1.
size_t quotaOf(const char* folder, bool isFirstVersion) {
  char path[PATH_MAX], quota[64], period[64];
  const char* const name = isFirstVersion ? "cpu.cfs_quota_us" : "cpu.max";
  if (::snprintf(path, sizeof path, "%s/%s", folder, name) < 0 || !readText(path, quota, sizeof quota)) return 0;
  const char* each = ::strchr(quota, ' ');
  if (isFirstVersion) {
    if (::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder) < 0) return 0;
    each = readText(path, period, sizeof period) ? period : nullptr;
  }
  const long all = ::atol(quota), part = each == nullptr ? 0 : ::atol(each);
  return all <= 0 || part <= 0 ? 0 : static_cast<size_t>((all - 1) / part + 1);
}

}  // namespace

size_t quotaProcessors(const char* groups, const char* mount) {
  char text[4096], folder[PATH_MAX];
  if (!readText(groups, text, sizeof text)) return 0;
  size_t least = 0;
  char* next = text;
  while (char* line = ::strsep(&next, "\n")) {
    // HIERARCHY:CONTROLLERS:PATH, where version 2 names no controllers.
    ::strsep(&line, ":");
    char* controllers = ::strsep(&line, ":");
    if (line == nullptr) continue;
    const bool isFirstVersion = *controllers != '\0';
    bool isOfProcessors = !isFirstVersion;
    while (const char* name = ::strsep(&controllers, ",")) isOfProcessors |= ::strcmp(name, "cpu") == 0;
    if (!isOfProcessors) continue;
    // A container may see the path of its host, of which it has only the end: so every folder on the way up counts.
    for (char* end = line + ::strlen(line); end != nullptr; end = ::strrchr(line, '/')) {
      *end = '\0';
      if (::snprintf(folder, sizeof folder, "%s%s%s", mount, isFirstVersion ? "/cpu" : "", line) < 0) continue;
      const size_t quota = quotaOf(folder, isFirstVersion);
      if (quota != 0 && (least == 0 || quota < least)) least = quota;
    }
  }
  return least;
}

size_t usableProcessors() {
  cpu_set_t set;
  long count = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : ::sysconf(_SC_NPROCESSORS_ONLN);
  if (const size_t quota = quotaProcessors("/proc/self/cgroup", "/sys/fs/cgroup"); quota != 0)
    count = std::min(count, static_cast<long>(quota));
  return static_cast<size_t>(std::max(1L, count));
}

}  // namespace svod
