#include "measure/child.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <utility>

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

[[noreturn]] void beChild(int file, pid_t parent, const ChildLimits& limits, const ChildWork& work) {
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

/// A machine that has no process to grant may have one soon.
pid_t forkPatiently() {
  constexpr int kTimes = 20;
  constexpr timespec kPause = {0, 50'000'000};
  for (int i = 1;; ++i) {
    const pid_t child = ::fork();
    if (child >= 0 || i == kTimes) return child;
    ::nanosleep(&kPause, nullptr);
  }
}

struct Started {
  pid_t child = -1;  // 0 or less: none
  int file = -1;     // from it
};

Started start(const ChildLimits& limits, const ChildWork& work) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t parent = ::getpid(), child = forkPatiently();
  if (child == 0) {
    ::close(ends[0]);
    beChild(ends[1], parent, limits, work);
  }
  ::close(ends[1]);
  return {child, ends[0]};
}

/// Reads until the child ends, is silent for too long, or has said a line where no more is wanted.
void listen(int file, pid_t child, const ChildLimits& limits, bool isOneLine, ChildEnd& end) {
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
    if (isOneLine && end.text.ends_with('\n')) return;
    deadline = Clock::now() + std::chrono::duration<double>(limits.seconds);
  }
}

void answerAll(const AnsweringChild::Answer& answer, const ChildOutput& output) {
  std::string text;
  for (char bytes[4096];;) {
    const ssize_t count = ::read(output.file(), bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.append(bytes, static_cast<size_t>(count));
    for (size_t at; (at = text.find('\n')) != text.npos; text.erase(0, at + 1))
      output.write(answer(text.substr(0, at)) + "\n");
  }
}

void awaitEnd(pid_t child, ChildEnd& end) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exitCode = WEXITSTATUS(status);
}

}  // namespace

void ChildOutput::write(const std::string& text) const {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(1);
    if (count > 0) done += static_cast<size_t>(count);
  }
}

std::vector<ChildEnd> runInChildren(const ChildLimits& limits, std::span<const ChildWork> works) {
  std::vector<Started> started;
  for (const ChildWork& work : works) started.push_back(start(limits, work));
  std::vector<ChildEnd> all;
  for (const Started& each : started) {  // what the others say meanwhile waits in their pipes
    ChildEnd& end = all.emplace_back();
    end.wasForked = each.child > 0;
    if (each.child > 0) listen(each.file, each.child, limits, false, end);
    if (each.file >= 0) ::close(each.file);
    if (each.child > 0) awaitEnd(each.child, end);
  }
  return all;
}

ChildEnd runInChild(const ChildLimits& limits, const ChildWork& work) { return runInChildren(limits, {&work, 1})[0]; }

bool AnsweringChild::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  const pid_t parent = ::getpid(), child = forkPatiently();
  if (child == 0) {
    ::close(ends[0]);
    beChild(ends[1], parent, limits_, [&](const ChildOutput& output) { answerAll(begin_(), output); });
  }
  ::close(ends[1]);
  child_ = child, file_ = ends[0];
  if (child < 0) end();
  return child > 0;
}

ChildEnd AnsweringChild::ask(const std::string& question) {
  ChildEnd result;
  if (child_ <= 0 && !start()) {
    result.wasForked = false;
    return result;
  }
  const std::string line = question + "\n";
  for (size_t done = 0; done < line.size();) {  // a child that is gone answers nothing
    const ssize_t count = ::send(file_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) done += static_cast<size_t>(count);
  }
  listen(file_, child_, limits_, true, result);
  if (result.text.ends_with('\n')) {
    result.text.pop_back();
    return result;
  }
  awaitEnd(std::exchange(child_, 0), result);
  end();
  return result;
}

void AnsweringChild::end() {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  if (child_ > 0) {
    ChildEnd unused;
    ::kill(child_, SIGKILL);
    awaitEnd(child_, unused);
  }
  child_ = 0;
}

}  // namespace svod
