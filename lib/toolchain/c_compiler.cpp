#include "toolchain/c_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace svod {

namespace {

constexpr size_t kLinesShown = 20;

// What the child prints is kept from its end: the last lines name the error.
std::string readAll(int from) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t count = read(from, block, sizeof block);
    if (count > 0)
      text.append(block, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      return text;
  }
}

std::vector<std::string> lastLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() > kLinesShown) lines.erase(lines.begin(), lines.end() - kLinesShown);
  return lines;
}

// posix_spawn wants arrays of mutable characters that end with a null pointer; it does not write to them.
std::vector<char*> pointers(std::span<const std::string> texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

// Starts the program with stdout and stderr going to `output`; returns 0 or an errno value.
int spawn(const Tool& tool, std::span<const std::string> args, int output, pid_t& child) {
  std::vector<std::string> words = {tool.program};
  words.insert(words.end(), args.begin(), args.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  const int error = posix_spawnp(&child, tool.program.c_str(), &actions, nullptr, pointers(words).data(),
                                 pointers(tool.environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

tl::unexpected<Error> failed(std::string_view message, const std::string& output) {
  Error error(Diag::CompileFailed, message, "its last lines are above; try --cc with another compiler");
  error->notes = lastLines(output);
  return fail(std::move(error));
}

}  // namespace

Status runTool(const Tool& tool, std::span<const std::string> args) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(Diag::CompileFailed, std::string("cannot open a pipe: ") + std::strerror(errno));
  pid_t child = 0;
  const int error = spawn(tool, args, ends[1], child);
  close(ends[1]);
  const std::string output = error == 0 ? readAll(ends[0]) : std::string();
  close(ends[0]);
  if (error != 0)
    return fail(Diag::CompileFailed, "cannot run '" + tool.program + "': " + std::strerror(error),
                "install it or name another compiler with --cc");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return failed("'" + tool.program + "' was killed by signal " + std::to_string(WTERMSIG(status)), output);
  if (WEXITSTATUS(status) != 0)
    return failed("'" + tool.program + "' exited with status " + std::to_string(WEXITSTATUS(status)), output);
  return {};
}

Status compileShared(const Tool& compiler, const std::string& source, const std::string& output,
                     std::span<const std::string> extraArgs) {
  std::vector<std::string> args = {"-std=c11",
                                   "-O2",
                                   "-fPIC",
                                   "-shared",
                                   "-ffp-contract=off",
                                   "-fno-math-errno",
                                   "-fno-trapping-math",
                                   "-Wl,--build-id=none",
                                   source,
                                   "-o",
                                   output,
                                   "-lm"};
  args.insert(args.end(), extraArgs.begin(), extraArgs.end());
  return runTool(compiler, args);
}

}  // namespace svod
