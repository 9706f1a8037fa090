// What tests of components that drive devices share.
#pragma once
#include <catch2/catch.hpp>
#include <memory>

#include "common/sanitizers.h"
#include "plan/plan.h"
#include "support/result.h"

namespace svod {

/// A kernel of two arguments in workgroups of 64 x 2 threads that share 16 KiB.
inline KernelDesc kernelWith(std::vector<LaunchAttribute> attributes) {
  KernelDesc kernel;
  kernel.name = kernel.symbol = "k";
  kernel.grid.emplace();
  kernel.grid->threads = {64, 2, 1};
  kernel.grid->sharedBytes = 16 << 10;
  kernel.grid->attributes = std::move(attributes);
  kernel.args.resize(2);
  return kernel;
}

/// Why a device does not take a kernel, by the checkFits() of its component; nothing where it does.
template <class Info>
std::string refusal(const Info& info, const KernelDesc& kernel, Diag diag = Diag::CpuFeatures) {
  const Status status = checkFits(info, kernel);
  if (status) return "";
  CHECK(status.error()->diag == diag);
  CHECK(!status.error()->help.empty());
  return status.error()->message;
}

/// The first device of this machine, driven by the library that it finds. Nothing where there is none, and where
/// sanitizers would find what drivers do.
template <class Device, class Library>
std::unique_ptr<Device> deviceHere() {
  if (kAddressSanitizer || kThreadSanitizer) {
    WARN("skipped: sanitizers are for what is ours, and not for drivers");
    return nullptr;
  }
  auto library = Library::open("");
  auto device =
      library ? Device::open(*library, {}) : Result<std::unique_ptr<Device>>(fail(std::move(library.error())));
  if (device) return std::move(*device);
  WARN("skipped: this machine has no device of kind " << Device::kKind << ": " << toText(device.error()));
  return nullptr;
}

/// Copies that go over the end of an allocation are failures with their tag, after which the device goes on.
template <class Device>
void checkFailures(Device& device) {
  auto memory = device.allocate(4096);
  REQUIRE(memory);
  auto* const at = static_cast<std::byte*>(*memory);
  std::vector<uint32_t> data(512), back(512);
  for (uint32_t i = 0; i < data.size(); ++i) data[i] = i * 7;
  device.copyIn(at, data.data(), 2048, 1);
  device.copyWithin(at + 2048, at, 2048, 2);
  auto last = device.copyOut(back.data(), at + 2048, 2048, 3);
  CHECK(!device.wait(last));
  CHECK(device.isDone(last));
  CHECK(back == data);
  CHECK(!device.checkAddress(data.data(), 4));
  CHECK(!device.checkAddress(at + 4000, 100));
  CHECK(device.checkAddress(at + 4000, 96));
  last = device.copyIn(at + 4000, data.data(), 2048, 9);
  const auto failed = device.wait(last);
  REQUIRE(failed);
  CHECK(failed->tag == 9);
  device.reset();
  back.assign(512, 0);
  CHECK(!device.wait(device.copyOut(back.data(), at, 2048, 4)));
  CHECK(back == data);
  CHECK(!device.allocate(UINT64_MAX / 2));
  device.release(at, 4096);
}

}  // namespace svod
