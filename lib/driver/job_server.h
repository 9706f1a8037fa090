// Leave to use more processors, from the make that runs svodc: a pipe with a byte for each job that may begin. Who
// takes one writes it back; the first job of a process needs none.
#pragma once
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "driver/compile.h"

namespace svod {

/// Gives back what is left at its end. Threads may use it at once.
class JobServer final : public ThreadTokens {
 public:
  /// `makeFlags` is the variable MAKEFLAGS; its last --jobserver-auth=fifo:PATH or =READ,WRITE counts.
  explicit JobServer(std::string_view makeFlags);
  ~JobServer();
  JobServer(const JobServer&) = delete;

  /// Whether there is a make that limits jobs; and whether it can be asked, else there is no leave.
  bool isThere() const { return isThere_; }
  bool isReached() const { return read_ >= 0; }

  bool take() override;
  void give() override;
  /// For the end of the process: takes no more.
  void giveAll();

 private:
  void openFifo(const std::string& path);
  void openPipe(const std::string& numbers);
  void giveOne();  // with the lock

  bool isThere_ = false;
  int read_ = -1, write_ = -1;  // of their own: other processes wait at those of make
  std::mutex lock_;
  std::vector<char> taken_;
};

}  // namespace svod
