// An adapter of WebGPU with a device of its own. Kernels are compiled from their text when they are first launched with
// their arguments in some memories; the addresses that the runtime counts with stand for buffers and places in them
// (runtime-min/addresses.h).
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime-min/addresses.h"
#include "runtime-min/device.h"
#include "runtime-webgpu/kernel.h"

namespace svod::webgpu {

struct WebGpuChoice {
  int ordinal = 0;
  std::string library;        // "" for that of the system
  bool waitsForEach = false;  // so that failures are known by their step
};

/// What an allocation is.
struct Buffer {
  BufferHandle handle = nullptr;
  uint64_t bytes = 0;  // a multiple of four
};

class WebGpuDevice final : public Device {
 public:
  static constexpr const char* kKind = "webgpu";

  /// Errors: NoDevice, DeviceBusy, DeviceFailure.
  static Result<std::unique_ptr<WebGpuDevice>> open(const Library& wgpu, const WebGpuChoice& choice);
  WebGpuDevice(const WebGpuDevice&) = delete;
  WebGpuDevice& operator=(const WebGpuDevice&) = delete;
  ~WebGpuDevice() override;

  std::string_view kind() const override { return kKind; }
  Result<std::string_view> choose(std::span<const FileDesc> files) override;
  Result<const void*> load(const KernelDesc& kernel, const DeviceImage& image) override;
  Result<void*> allocate(uint64_t bytes) override;
  void release(void* memory, uint64_t bytes) override;
  Status checkAddress(const void* address, uint64_t bytes) override;

  Ticket launch(const DeviceLaunch& launch, uint32_t tag) override;
  Ticket copyIn(void* to, const void* fromHost, uint64_t bytes, uint32_t tag) override;
  Ticket copyOut(void* toHost, const void* from, uint64_t bytes, uint32_t tag) override;
  Ticket copyWithin(void* to, const void* from, uint64_t bytes, uint32_t tag) override;
  bool readsAtOnce() const override { return true; }
  Ticket give(DeviceBatch& batch) override;

  std::optional<Failure> wait(Ticket ticket) override;
  bool isDone(Ticket ticket) override;
  void reset() override;
  bool isLost() const override;
  std::vector<std::string> describe() const override;

 private:
  using Place = Addresses<Buffer*>::Place;
  /// A part of a buffer that one binding has.
  struct Binding {
    const Buffer* buffer = nullptr;
    uint64_t begin = 0, end = 0;
  };
  /// What an implementation said of calls since it was last asked.
  struct Trouble {
    std::mutex mutex;
    std::string text;
    bool isMemory = false, isLost = false;
  };

  WebGpuDevice(const Library& wgpu, const WebGpuChoice& choice, Adapters adapters)
      : wgpu_(wgpu), choice_(choice), adapters_(std::move(adapters)) {}
  Status start();
  /// The first that was said, "" where nothing was.
  std::string takeTrouble(bool* isMemory = nullptr);
  const AdapterInfo& info() const { return adapters_.info(static_cast<size_t>(choice_.ordinal)); }

  // Memory (memory.cpp), under the lock:
  BufferHandle makeBuffer(uint64_t bytes, Flags usage);
  void freeBuffer(BufferHandle buffer);
  /// One of at least so many bytes; what it was is gone.
  bool growBuffer(Buffer& buffer, uint64_t bytes, Flags usage);
  std::string readBack(const Buffer& from, uint64_t offset, uint64_t bytes, std::byte* to);
  std::string readChunk(const Buffer& from, uint64_t offset, uint64_t bytes, std::byte* to);
  std::string writeIn(const Buffer& to, uint64_t offset, const std::byte* from, uint64_t bytes);
  std::string copyPart(const Place& to, const Place& from, uint64_t bytes);
  std::string copy(const DeviceWork& work);

  // Work (work.cpp), under the lock:
  std::string giveWork(const DeviceWork& work);
  std::string giveLaunch(const DeviceLaunch& launch);
  std::string bind(const WebGpuKernel& kernel, std::span<const Place> places, std::vector<uint32_t>& memories,
                   std::vector<Binding>& bindings) const;
  Result<const Pipeline*> pipelineFor(const WebGpuKernel& kernel, const std::vector<uint32_t>& memories, size_t count);
  Result<Pipeline> buildPipeline(const std::string& path, const std::string& text, size_t bindings);
  std::string dispatch(const WebGpuKernel& kernel, const Pipeline& pipeline, std::span<const Binding> bindings,
                       std::span<const uint32_t> words, const std::array<int64_t, 3>& groups);
  void endPass();
  /// Gives to the queue what was encoded.
  std::string flush();
  void failed(std::string what, uint32_t first, uint32_t last);
  Ticket giveOneWork(const DeviceWork& work);

  const Library wgpu_;
  const WebGpuChoice choice_;
  const Adapters adapters_;
  DeviceHandle device_ = nullptr;
  QueueHandle queue_ = nullptr;
  mutable Trouble trouble_;
  std::string limits_;  // the images that are taken
  double milliseconds_ = 0;
  std::map<std::string, Pipeline> pipelines_;  // by text
  std::vector<std::unique_ptr<WebGpuKernel>> kernels_;

  mutable std::mutex mutex_;
  Addresses<Buffer*> addresses_;
  Buffer staging_, between_, words_, nothing_;  // read back, copied within a buffer, of launches, of no argument
  EncoderHandle encoder_ = nullptr;
  PassHandle pass_ = nullptr;
  std::vector<uint32_t> launchWords_;  // of launches that were encoded
  Ticket given_ = 0, done_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace svod::webgpu
