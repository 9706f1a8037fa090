#include "measure/tile_threads.h"

namespace svod {

namespace {

constexpr int kSpins = 4000;  // before a thread sleeps: runs of one sample follow each other closely

}  // namespace

TileThreads::TileThreads(int count) {
  for (int i = 1; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
}

TileThreads::~TileThreads() {
  ends_ = true;
  ++number_;
  number_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TileThreads::run(const TileRun& run) {
  run_ = &run;
  next_ = 0;
  busy_ = static_cast<int>(threads_.size());
  ++number_;
  number_.notify_all();
  take(0);
  while (busy_ > 0) std::this_thread::yield();
}

void TileThreads::take(int number) {
  for (int64_t tile; (tile = next_++) < run_->tiles;)
    run_->function(run_->buffers, run_->values, tile, tile + 1, run_->scratch[number]);
}

void TileThreads::serve(int number) {
  for (unsigned seen = 0;;) {
    for (int spins = 0; number_ == seen && spins < kSpins; ++spins) {
    }
    number_.wait(seen);
    seen = number_;
    if (ends_) return;
    take(number);
    --busy_;
  }
}

}  // namespace svod
