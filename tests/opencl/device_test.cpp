// What the component for OpenCL devices says of devices and kernels that do not fit, and how it counts with addresses.
#include <catch2/catch.hpp>

#include "common/device_component.h"
#include "runtime-min/addresses.h"
#include "runtime-opencl/opencl_device.h"

using namespace svod;
using namespace svod::opencl;

namespace {

OpenClInfo large() {
  OpenClInfo info;
  info.name = "a device";
  info.threads = 256, info.threadsAlong = {256, 256, 64};
  info.localBytes = 32 << 10, info.parameterBytes = 1024;
  info.singles = kRoundedDivision | kSubnormals, info.doubles = 1;
  info.isFull = true;
  return info;
}

std::unique_ptr<OpenClDevice> deviceHere() { return svod::deviceHere<OpenClDevice, Loader>(); }

}  // namespace

TEST_CASE("a kernel that a device cannot run is refused with what the device lacks") {
  CHECK(refusal(large(), kernelWith({{"align.0", 16}, {"fp64", 1}, {"rounded-division", 2}, {"subnormals", 1}})) == "");
  OpenClInfo info = large();
  info.doubles = 0, info.singles = 0;
  CHECK(refusal(info, kernelWith({{"fp64", 1}})) ==
        "kernel 'k' computes in f64, which the device has not (opencl:0, a device)");
  CHECK(refusal(info, kernelWith({{"rounded-division", 1}})) == "");
  CHECK_THAT(refusal(info, kernelWith({{"rounded-division", 2}})), Catch::Contains("is strict"));
  CHECK_THAT(refusal(info, kernelWith({{"subnormals", 1}})), Catch::Contains("subnormal f32 for zeros"));
  info = large(), info.threads = 64;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("workgroups of 128 threads, more than the 64"));
  info = large(), info.threadsAlong = {32, 32, 1};
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("workgroups of 128 threads"));
  info = large(), info.localBytes = 8 << 10;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("needs 16384 bytes of local memory"));
  info = large(), info.parameterBytes = 16;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("arguments of 32 bytes, more than the 16"));
  CHECK_THAT(refusal(large(), kernelWith({{"cluster.x", 2}}), Diag::Unsupported), Catch::Contains("'cluster.x'"));
}

TEST_CASE("addresses stand for places in memory, and nobody may touch them") {
  Addresses<Memory> addresses;
  auto* const memory = reinterpret_cast<Memory>(0x1234);
  auto* const begin = static_cast<std::byte*>(addresses.reserve(memory, 100));
  REQUIRE(begin != nullptr);
  CHECK(reinterpret_cast<uintptr_t>(begin) % kDeviceAlignment == 0);
  const Addresses<Memory>::Place place = addresses.find(begin + 40);
  CHECK((place.memory == memory && place.offset == 40 && place.room == 60));
  CHECK(addresses.find(begin + 100).room == 0);
  CHECK(addresses.find(begin + 101).memory == nullptr);
  CHECK(addresses.find(begin - 1).memory == nullptr);
  CHECK(addresses.release(begin + 1) == nullptr);
  CHECK(addresses.release(begin) == memory);
  CHECK(addresses.find(begin).memory == nullptr);
}

TEST_CASE("a loader that is not there is an error that says what to install") {
  const auto loader = Loader::open("libnone-such.so");
  REQUIRE(!loader);
  CHECK(loader.error()->diag == Diag::NoDevice);
  CHECK_THAT(loader.error()->message, Catch::Contains("libnone-such.so"));
  const auto other = Loader::open("libm.so.6");
  REQUIRE(!other);
  CHECK_THAT(other.error()->message, Catch::Contains("no function clGetPlatformIDs"));
}

TEST_CASE("a device with a number that there is not is an error that says how many there are") {
  if (!deviceHere()) return;
  const auto cl = Loader::open("");
  OpenClChoice choice;
  choice.ordinal = 1000;
  const auto device = OpenClDevice::open(*cl, choice);
  REQUIRE(!device);
  CHECK(device.error()->diag == Diag::NoDevice);
  CHECK_THAT(device.error()->message, Catch::Contains("opencl:1000; this machine has"));
}

TEST_CASE("the log of the device's compiler is in the error of a kernel that it refuses") {
  const auto device = deviceHere();
  if (!device) return;
  const KernelDesc kernel = kernelWith({});
  FileDesc file;
  file.path = "k.portable.cl", file.kind = FileKind::Image, file.image = {"opencl", "portable", 120};
  REQUIRE(device->choose({&file, 1}));
  const std::string wrong = "__kernel void k(__global float* p) { p[0] = unknown_name; }\n";
  const auto refused = device->load(kernel, {file, {}, std::as_bytes(std::span(wrong))});
  REQUIRE(!refused);
  CHECK(refused.error()->diag == Diag::BadPlan);
  CHECK_THAT(refused.error()->message, Catch::Contains("k.portable.cl") && Catch::Contains("unknown_name"));
  FileDesc second = file;
  second.path = "other.cl";
  const std::string other = "__kernel void other(__global float* p) { p[0] = 1; }\n";
  const auto missing = device->load(kernel, {second, {}, std::as_bytes(std::span(other))});
  REQUIRE(!missing);
  CHECK_THAT(missing.error()->message, Catch::Contains("no kernel 'k'"));
}

TEST_CASE("a device copies, tells failures, and is usable after one") {
  if (const auto device = deviceHere()) checkFailures(*device);
}
