// The threads of a compile (an internal header of the room).
#pragma once
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include "compile/options.h"

namespace svod {

/// Up to `most` threads, of which the caller is the first; each other one needs a token of the jobserver.
class Workers {
 public:
  Workers(size_t most, ThreadTokens* tokens) : most_(most), tokens_(tokens) {}
  ~Workers() {
    for (std::thread& t : threads_) t.join();
  }
  /// Starts as many as the tokens allow.
  void start(const std::function<void()>& work) {
    while (threads_.size() + 1 < most_ && (tokens_ == nullptr || tokens_->take())) {
      try {
        threads_.emplace_back([this, work] {
          work();
          if (tokens_ != nullptr) tokens_->give();
        });
      } catch (const std::system_error&) {  // the system grants no more: those there do all the work
        if (tokens_ != nullptr) tokens_->give();
        most_ = threads_.size() + 1;
      }
    }
  }

 private:
  size_t most_;
  ThreadTokens* tokens_;
  std::vector<std::thread> threads_;
};

}  // namespace svod
