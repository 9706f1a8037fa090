// An OpenCL device with a context and a queue of its own. Kernels are built from their text when they are loaded; the
// addresses that the runtime counts with stand for buffers and places in them (runtime-min/addresses.h).
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "runtime-min/addresses.h"
#include "runtime-min/device.h"
#include "runtime-opencl/kernel.h"

namespace svod::opencl {

struct OpenClChoice {
  int ordinal = 0;
  std::string loader;         // a library, "" for that of the system
  bool waitsForEach = false;  // so that failures are known by their step
};

class OpenClDevice final : public Device {
 public:
  static constexpr const char* kKind = "opencl";

  /// Errors: NoDevice, DeviceBusy, DeviceFailure.
  static Result<std::unique_ptr<OpenClDevice>> open(const Loader& cl, const OpenClChoice& choice);
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;
  ~OpenClDevice() override;

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
  Ticket give(DeviceBatch& batch) override;
  std::optional<Failure> time(DeviceBatch& batch, std::span<DeviceTime> times) override;

  std::optional<Failure> wait(Ticket ticket) override;
  bool isDone(Ticket ticket) override;
  void reset() override;
  bool isLost() const override { return isLost_; }
  std::vector<std::string> notes() const override;
  std::vector<std::string> describe() const override;

 private:
  /// The event behind work with tags from `first` to `last`.
  struct Mark {
    Event event = nullptr;
    Ticket ticket = 0;
    uint32_t first = 0, last = 0;
  };

  OpenClDevice(const Loader& cl, const OpenClChoice& choice) : cl_(cl), choice_(choice) {}
  Status start();
  Status makeQueue();
  Result<Program> programOf(const KernelDesc& kernel, const DeviceImage& image);

  // Under the lock:
  Code giveWork(const DeviceWork& work, Event* event);
  Code giveLaunch(const DeviceLaunch& launch, Event* event);
  Code copy(const DeviceWork& work, Event* event);
  Code timeOne(const DeviceWork& work, DeviceTime& time);
  Ticket gave(Code code, Event event, uint32_t first, uint32_t last);
  void failed(Code code, uint32_t first, uint32_t last);
  const Mark* markOf(Ticket ticket) const;
  Ticket giveOneWork(const DeviceWork& work);

  const Loader cl_;
  const OpenClChoice choice_;
  OpenClInfo info_;
  Context context_ = nullptr;
  Queue queue_ = nullptr;
  std::string limits_;  // the images that are taken
  double milliseconds_ = 0;
  std::map<std::string, Program> programs_;  // by path
  std::vector<std::unique_ptr<OpenClKernel>> kernels_;

  mutable std::mutex mutex_;
  Addresses<Memory> addresses_;
  Ticket given_ = 0, done_ = 0;
  std::array<Mark, 16> marks_;
  std::optional<Failure> failure_;
  bool isLost_ = false;
};

}  // namespace svod::opencl
