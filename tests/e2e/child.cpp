#include "e2e/child.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace svod {

namespace {

constexpr int kCrashed = 41;  // exit status of a child that has described its crash
constexpr unsigned kSeconds = 60;

/// An anonymous file that parent and child see.
class SharedFile {
 public:
  SharedFile() : fd_(::memfd_create("svod_test", 0)) {}
  SharedFile(const SharedFile&) = delete;
  ~SharedFile() { ::close(fd_); }
  int fd() const { return fd_; }

  void write(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
      ssize_t n = ::write(fd_, text.data() + done, text.size() - done);
      if (n < 0 && errno != EINTR) return;
      done += n > 0 ? static_cast<size_t>(n) : 0;
    }
  }

  std::string read() const {
    std::string text(static_cast<size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    for (size_t done = 0; done < text.size();) {
      ssize_t n = ::pread(fd_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (n == 0 || (n < 0 && errno != EINTR)) break;
      done += n > 0 ? static_cast<size_t>(n) : 0;
    }
    return text;
  }

 private:
  int fd_;
};

// Of the child, for its signal handler.
const std::function<std::string(uintptr_t)>* crashPlaces = nullptr;

uintptr_t instructionOf(void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine.pc);
#else
  return 0;
#endif
}

// The process is lost and no lock of ours is held in generated code, so ordinary functions will do.
void describeCrash(int signal, siginfo_t* info, void* context) {
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  bool memory = signal == SIGSEGV || signal == SIGBUS;
  std::string text = std::string(::strsignal(signal));
  Dl_info function{};
  if (::dladdr(reinterpret_cast<void*>(instructionOf(context)), &function) != 0 && function.dli_sname != nullptr)
    text += std::string(" in ") + function.dli_sname;
  std::string place = memory ? (*crashPlaces)(address) : "";
  if (!place.empty()) text += ", touching memory " + place;
  text += "\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(kCrashed);
}

[[noreturn]] void runChild(const std::function<std::string()>& body,
                           const std::function<std::string(uintptr_t)>& whereIs, const SharedFile& result,
                           const SharedFile& output) {
  ::dup2(output.fd(), STDERR_FILENO);
  crashPlaces = &whereIs;
  struct sigaction action{};
  action.sa_sigaction = describeCrash;
  action.sa_flags = SA_SIGINFO;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGABRT, SIG_DFL);
  ::alarm(kSeconds);
  result.write(body());
  ::_exit(0);
}

std::string ending(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "it took longer than a minute";
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == kCrashed ? "it crashed" : "it ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::string> inChild(const std::function<std::string()>& body,
                            const std::function<std::string(uintptr_t)>& whereIs) {
  SharedFile result, output;
  pid_t child = ::fork();
  if (child < 0) return fail(Diag::DeviceFailure, std::string("cannot fork: ") + std::strerror(errno));
  if (child == 0) runChild(body, whereIs, result, output);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return result.read();
  return fail(Diag::DeviceFailure, "the plan did not run to its end: " + ending(status) + ": " + output.read());
}

}  // namespace svod
