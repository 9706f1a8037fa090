#include "driver/job_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

namespace svod {

namespace {

constexpr std::string_view kFlag = "--jobserver-auth=", kOlderFlag = "--jobserver-fds=", kFifo = "fifo:";

/// The value of the last such word; words behind ` -- ` are variables.
std::string_view authOf(std::string_view makeFlags) {
  std::string_view found;
  while (!makeFlags.empty()) {
    const std::string_view word = makeFlags.substr(0, makeFlags.find(' '));
    makeFlags.remove_prefix(std::min(makeFlags.size(), word.size() + 1));
    if (word == "--") break;
    for (const std::string_view flag : {kFlag, kOlderFlag})
      if (word.starts_with(flag)) found = word.substr(flag.size());
  }
  return found;
}

bool isPipe(int fd) {
  struct stat status = {};
  return fd >= 0 && ::fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

int opened(const std::string& path, int mode) {
  const int fd = ::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC);
  if (isPipe(fd)) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace

JobServer::JobServer(std::string_view makeFlags) {
  const std::string_view auth = authOf(makeFlags);
  isThere_ = !auth.empty();
  if (auth.starts_with(kFifo))
    openFifo(std::string(auth.substr(kFifo.size())));
  else if (isThere_)
    openPipe(std::string(auth));
  if (write_ >= 0) return;
  if (read_ >= 0) ::close(read_);
  read_ = -1;
}

void JobServer::openFifo(const std::string& path) {
  read_ = opened(path, O_RDWR);  // both, so that neither end is ever alone
  if (read_ >= 0) write_ = opened(path, O_WRONLY);
}

/// Opened anew: what make handed down is shared with all its other children, some of which wait there.
void JobServer::openPipe(const std::string& numbers) {
  int from = -1, to = -1;
  const char *const begin = numbers.data(), *const end = begin + numbers.size();
  const auto first = std::from_chars(begin, end, from);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return;
  if (std::from_chars(first.ptr + 1, end, to).ptr != end || !isPipe(from) || !isPipe(to)) return;
  read_ = opened("/proc/self/fd/" + std::to_string(from), O_RDONLY);
  if (read_ >= 0) write_ = opened("/proc/self/fd/" + std::to_string(to), O_WRONLY);
}

JobServer::~JobServer() {
  giveAll();
  for (const int fd : {read_, write_})
    if (fd >= 0) ::close(fd);
}

bool JobServer::take() {
  const std::lock_guard lock(lock_);
  char token = 0;
  if (read_ < 0 || ::read(read_, &token, 1) != 1) return false;
  taken_.push_back(token);
  return true;
}

void JobServer::give() {
  const std::lock_guard lock(lock_);
  giveOne();
}

/// There was room for the byte where it came from.
void JobServer::giveOne() {
  if (taken_.empty()) return;
  if (::write(write_, &taken_.back(), 1) == 1) taken_.pop_back();
}

void JobServer::giveAll() {
  const std::lock_guard lock(lock_);
  for (size_t left = taken_.size(); left > 0; left--) giveOne();
}

}  // namespace svod
