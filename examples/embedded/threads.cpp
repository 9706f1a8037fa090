// Many images at once, on threads of the program: the C++ side of a model that is built in.
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "digits.h"

namespace {

// A program with a pool of its own would hand the ranges to that.
void onThreads(void*, int64_t tiles, void (*body)(void*, int64_t, int64_t, int32_t), void* task) {
  constexpr int32_t kCount = 2;
  std::vector<std::thread> others;
  for (int32_t t = 1; t < kCount; ++t)
    others.emplace_back([=] { body(task, tiles * t / kCount, tiles * (t + 1) / kCount, t); });
  body(task, 0, tiles / kCount, 0);
  for (std::thread& other : others) other.join();
}

}  // namespace

int main() {
  constexpr int64_t kImages = DIGITS_N_MAX;
  constexpr size_t kAlign = 64;
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> arena(
      static_cast<unsigned char*>(::operator new(DIGITS_ARENA_BYTES + DIGITS_THREAD_BYTES, std::align_val_t(kAlign))),
      [](unsigned char* memory) { ::operator delete(memory, std::align_val_t(kAlign)); });
  std::vector<float> image(DIGITS_IMAGE_BYTES / sizeof(float)), alone(DIGITS_PROBABILITY_BYTES / sizeof(float)),
      shared(alone);
  std::vector<int32_t> digit(kImages);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i * 37 % 101) / 100.0f;

  const svod_model_threads threads = {nullptr, 2, onThreads};
  if (digits_run(kImages, image.data(), alone.data(), digit.data(), arena.get(), nullptr) != SVOD_MODEL_OK) return 1;
  if (digits_run(kImages, image.data(), shared.data(), digit.data(), arena.get(), &threads) != SVOD_MODEL_OK) return 1;
  const bool same = std::memcmp(alone.data(), shared.data(), DIGITS_PROBABILITY_BYTES) == 0;
  std::printf("%d images, %s bytes on two threads\n", static_cast<int>(kImages), same ? "the same" : "other");
  return same ? 0 : 1;
}
