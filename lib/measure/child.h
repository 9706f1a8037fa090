// Process isolation: work in a child process costs nobody else memory, time or a crash.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace svod {

/// Why there is no child, where there is none.
inline constexpr char kNoProcess[] = "the system grants no process";

/// What a child wrote, and how it ended.
struct ChildEnd {
  std::string text;
  bool timedOut = false;
  int signal = 0;    // that ended it, 0: none
  int exitCode = 0;  // where no signal did
  bool wasForked = true;
};

/// Where a child writes what the parent gets.
class ChildOutput {
 public:
  explicit ChildOutput(int file) : file_(file) {}
  void write(const std::string& text) const;
  int file() const { return file_; }

 private:
  int file_;
};

struct ChildLimits {
  double seconds = 10;     // without a word from the child
  uint64_t moreBytes = 0;  // of address space, beyond what this process has; 0: any
};

using ChildWork = std::function<void(const ChildOutput&)>;

/// Runs `work` in a fork of this process, which must have no other thread that could hold a lock. The child dies with
/// its parent, and when it was silent for too long.
ChildEnd runInChild(const ChildLimits& limits, const ChildWork& work);
/// The same for several at once, each in a process of its own; in their order.
std::vector<ChildEnd> runInChildren(const ChildLimits& limits, std::span<const ChildWork> works);

/// A child that lives on and answers questions, each a line, with a line.
class AnsweringChild {
 public:
  using Answer = std::function<std::string(const std::string& question)>;

  /// `begin` makes what answers, in the child.
  AnsweringChild(ChildLimits limits, std::function<Answer()> begin) : limits_(limits), begin_(std::move(begin)) {}
  AnsweringChild(const AnsweringChild&) = delete;
  ~AnsweringChild() { end(); }

  /// The answer, or how it ended without one; then the next question starts another child.
  ChildEnd ask(const std::string& question);
  /// The next question starts another child.
  void end();

 private:
  bool start();

  ChildLimits limits_;
  std::function<Answer()> begin_;
  int child_ = 0;  // 0: none
  int file_ = -1;  // to it and from it
};

}  // namespace svod
