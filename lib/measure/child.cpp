#include "measure/child.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>

namespace svod {

namespace {

uint64_t addressSpaceInUse() {
  unsigned long long pages = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const bool isRead = std::fscanf(file, "%llu", &pages) == 1;
  std::fclose(file);
  return isRead ? pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

[[noreturn]] void beChild(int file, pid_t parent, const ChildLimits& limits,
                          const std::function<void(const ChildOutput&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before
  for (int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) std::signal(signal, SIG_DFL);
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  if (const uint64_t now = addressSpaceInUse(); limits.moreBytes > 0 && now > 0) {
    const rlimit most = {now + limits.moreBytes, now + limits.moreBytes};
    ::setrlimit(RLIMIT_AS, &most);
  }
  try {
    work(ChildOutput(file));
  } catch (const std::exception&) {
    ::_exit(2);
  }
  ::_exit(0);
}

/// Reads until the child ends or is silent for too long.
void listen(int file, pid_t child, const ChildLimits& limits, ChildEnd& end) {
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::duration<double>(limits.seconds);
  for (char bytes[4096];;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait = {file, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      end.timedOut = true;
      ::kill(child, SIGKILL);
      return;
    }
    const ssize_t count = ::read(file, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    end.text.append(bytes, static_cast<size_t>(count));
    deadline = Clock::now() + std::chrono::duration<double>(limits.seconds);
  }
}

}  // namespace

void ChildOutput::write(const std::string& text) const {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(1);
    if (count > 0) done += static_cast<size_t>(count);
  }
}

ChildEnd runInChild(const ChildLimits& limits, const std::function<void(const ChildOutput&)>& work) {
  ChildEnd end;
  int ends[2];
  if (::pipe(ends) != 0) {
    end.wasForked = false;
    return end;
  }
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    beChild(ends[1], parent, limits, work);
  }
  ::close(ends[1]);
  end.wasForked = child > 0;
  if (child > 0) listen(ends[0], child, limits, end);
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exitCode = WEXITSTATUS(status);
  return end;
}

}  // namespace svod
