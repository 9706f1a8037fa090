// A CUDA device, driven through its primary context, which is shared with everything else in the process and current
// only while a function of this is running. Its queue is a stream of its own, or one of the caller's.
#pragma once
#include <atomic>
#include <map>
#include <mutex>

#include "runtime-cuda/context.h"
#include "runtime-cuda/device_info.h"
#include "runtime-cuda/kernel.h"
#include "runtime-min/device.h"

namespace svod::cuda {

struct DeviceChoice {
  int ordinal = 0;
  std::string driver;         // a library, "" for that of the system
  bool mayJit = true;         // PTX is taken where no machine code fits
  bool usesGraphs = true;     // batches are CUDA graphs
  bool waitsForEach = false;  // so that failures are known by their step
};

class CudaDevice final : public Device {
 public:
  static constexpr const char* kKind = "cuda";

  /// Errors: NoDevice, DeviceBusy, DeviceFailure.
  static Result<std::unique_ptr<CudaDevice>> open(Driver driver, const DeviceChoice& choice);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() override;

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
  Ticket copyFrom(Device& other, void* to, const void* from, uint64_t bytes, uint32_t tag) override;
  bool readsAtOnce() const override { return true; }  // the driver copies parameters
  Ticket give(DeviceBatch& batch) override;
  std::optional<Failure> time(DeviceBatch& batch, std::span<DeviceTime> times) override;
  std::optional<Failure> upload(std::span<const DeviceUpload> uploads) override;

  Status useStream(void* stream) override;
  Status beginRun(bool isBound) override;
  Ticket waitFor(Device& other, Ticket ticket, uint32_t tag) override;
  std::optional<Failure> wait(Ticket ticket) override;
  bool isDone(Ticket ticket) override;
  void reset() override;
  bool isLost() const override { return isLost_; }
  std::vector<std::string> notes() const override;
  std::vector<std::string> describe() const override;

  // For the graphs of batches.
  /// Whether something may be given back: asked where it is, by waiting for all work, as the loss of a context is seen
  /// only by a call that fails. The context is current.
  bool isThere();
  const Driver& driver() const { return driver_; }
  Context context() const { return context_; }
  Stream stream() const { return stream_; }

 private:
  /// An event behind work with tags from `first` to `last`.
  struct Mark {
    Event event = nullptr;
    Ticket ticket = 0;
    uint32_t first = 0, last = 0;
  };
  /// What was loaded of the images for an architecture.
  struct Loaded {
    std::string arch, others;  // and why others of the plan are not taken
    uint32_t kernels = 0;
    double milliseconds = 0;
    bool isPtx() const { return parseCudaArch(arch)->isPtx; }
  };

  CudaDevice(Driver driver, const DeviceChoice& choice) : driver_(driver), choice_(choice) {}
  Status start();
  Result<Module> moduleOf(const DeviceImage& image, const KernelDesc& kernel);
  Result<Module> loadModule(const DeviceImage& image, const KernelDesc& kernel);

  tl::unexpected<Error> refused(Code code, std::string_view what);

  // Under the lock, with the context current:
  /// By events: a stream of the caller's may be gone.
  Code waitForAll() const;
  Code giveWork(const DeviceWork& work);
  Code giveLaunch(const DeviceLaunch& launch);
  Code giveKernel(const DeviceKernel& kernel, const DeviceLaunch& launch);
  Code giveAligned(const DeviceKernel& kernel, const DeviceLaunch& launch);
  Code placeFor(const DeviceKernel& kernel, uint32_t argument, Address& place);
  uint64_t boundBytes(const void* memory) const;
  static bool isAligned(const DeviceBatch& batch);
  Ticket gave(Code code, uint32_t first, uint32_t last);
  void mark(uint32_t first, uint32_t last);
  void failed(Code code, uint32_t first, uint32_t last);
  const Mark* markOf(Ticket ticket) const;

  Ticket giveOneWork(const DeviceWork& work);
  Code timeEach(DeviceBatch& batch, size_t& given);
  Code copyStaged(std::span<const DeviceUpload> uploads, void* const (&halves)[2], uint64_t half);

  const Driver driver_;
  const DeviceChoice choice_;
  DeviceInfo info_;
  bool hasContext_ = false;
  Context context_ = nullptr;
  Stream own_ = nullptr, stream_ = nullptr;  // what work is given to
  Loaded loaded_;
  std::map<std::string, Module> modules_;  // by path
  std::vector<std::unique_ptr<DeviceKernel>> kernels_;

  mutable std::mutex mutex_;
  Parameters parameters_;
  Ticket given_ = 0, done_ = 0;
  std::array<Mark, 16> marks_;
  Event others_ = nullptr;
  std::vector<Event> clocks_;          // for times: one before all, then two for each work
  std::map<Address, uint64_t> bound_;  // bytes of memory of users, by where it starts
  std::map<std::pair<const DeviceKernel*, uint32_t>, Address> aligned_;  // copies of arguments
  std::vector<std::string> notes_;
  std::optional<Failure> failure_;
  std::atomic<bool> isLost_ = false;
};

}  // namespace svod::cuda
