// What the component for devices of WebGPU says of adapters and kernels that do not fit, and how it moves bytes.
#include <catch2/catch.hpp>

#include "common/device_component.h"
#include "runtime-webgpu/webgpu_device.h"

using namespace svod;
using namespace svod::webgpu;

namespace {

AdapterInfo large() {
  AdapterInfo info;
  info.name = "an adapter";
  info.limits.threads = 256, info.limits.threadsX = info.limits.threadsY = 256, info.limits.threadsZ = 64;
  info.limits.sharedBytes = 16 << 10, info.limits.uniformBytes = 64 << 10;
  return info;
}

std::unique_ptr<WebGpuDevice> deviceHere() { return svod::deviceHere<WebGpuDevice, Library>(); }

}  // namespace

TEST_CASE("a kernel that an adapter cannot run is refused with what the adapter lacks") {
  CHECK(refusal(large(), kernelWith({{"folded", 1}})) == "");
  AdapterInfo info = large();
  info.limits.threads = 64;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("workgroups of 128 threads, more than the 64"));
  info = large(), info.limits.threadsX = 32;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("workgroups of 128 threads"));
  info = large(), info.limits.sharedBytes = 8 << 10;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("needs 16384 bytes that a workgroup shares"));
  info = large(), info.limits.uniformBytes = 16;
  CHECK_THAT(refusal(info, kernelWith({})), Catch::Contains("has 32 bytes of sizes, of 16"));
  CHECK_THAT(refusal(large(), kernelWith({{"cluster.x", 2}}), Diag::Unsupported), Catch::Contains("'cluster.x'"));
}

TEST_CASE("arguments in one memory share a binding, which is atomic where one of them is written in parts") {
  const WordUse uses[] = {WordUse::WritesParts, WordUse::Reads, WordUse::Writes};
  const uint32_t together[] = {0, 0, 1}, apart[] = {0, 1, 2};
  const std::string one = wgslArguments(uses, 1, together), three = wgslArguments(uses, 1, apart);
  CHECK_THAT(one, Catch::Contains("svod_words: array<vec4u, 3>"));
  CHECK_THAT(one, Catch::Contains("m0: array<atomic<u32>>") && Catch::Contains("m1: array<u32>"));
  CHECK_THAT(one, Catch::Contains("get1(i: u32) -> u32 { return atomicLoad(&m0[i]); }"));
  CHECK_THAT(one, Catch::Contains("set2(i: u32, x: u32) { m1[i] = x; }") && !Catch::Contains("set1"));
  CHECK_THAT(three, Catch::Contains("get1(i: u32) -> u32 { return m1[i]; }") && Catch::Contains("@binding(3)"));
}

TEST_CASE("a library that is not there, or another one, is an error that says what to give") {
  const auto library = Library::open("libnone-such.so");
  REQUIRE(!library);
  CHECK(library.error()->diag == Diag::NoDevice);
  CHECK_THAT(library.error()->message, Catch::Contains("libnone-such.so"));
  const auto other = Library::open("libm.so.6");
  REQUIRE(!other);
  CHECK_THAT(other.error()->message, Catch::Contains("no function wgpuGetVersion"));
}

TEST_CASE("an adapter with a number that there is not is an error that says how many there are") {
  if (!deviceHere()) return;
  const auto wgpu = Library::open("");
  WebGpuChoice choice;
  choice.ordinal = 1000;
  const auto device = WebGpuDevice::open(*wgpu, choice);
  REQUIRE(!device);
  CHECK(device.error()->diag == Diag::NoDevice);
  CHECK_THAT(device.error()->message, Catch::Contains("webgpu:1000; this machine has"));
}

TEST_CASE("what the implementation says is in the error of a kernel that it refuses") {
  const auto device = deviceHere();
  if (!device) return;
  const KernelDesc kernel = kernelWith({});
  FileDesc file;
  file.path = "k.default.wgsl", file.kind = FileKind::Image, file.image = {"webgpu", "default", 1};
  REQUIRE(device->choose({&file, 1}));
  const std::string wrong = std::string(kWgslKernel) + "@compute @workgroup_size(1)\nfn main() { unknown_name(); }\n";
  const auto refused = device->load(kernel, {file, {}, std::as_bytes(std::span(wrong))});
  REQUIRE(!refused);
  CHECK(refused.error()->diag == Diag::BadPlan);
  CHECK_THAT(refused.error()->message, Catch::Contains("k.default.wgsl") && Catch::Contains("unknown_name"));
  const std::string other = "fn main() {}\n";
  const auto missing = device->load(kernel, {file, {}, std::as_bytes(std::span(other))});
  REQUIRE(!missing);
  CHECK_THAT(missing.error()->message, Catch::Contains("no kernel in WGSL that svodc wrote"));
  file.image.driver = 1000;
  const auto newer = device->load(kernel, {file, {}, std::as_bytes(std::span(wrong))});
  REQUIRE(!newer);
  CHECK(newer.error()->diag == Diag::Unsupported);
}

TEST_CASE("bytes are moved from and to any place, and what lies beside them stays") {
  const auto device = deviceHere();
  if (!device) return;
  constexpr size_t kBytes = 1000;
  auto first = device->allocate(kBytes), second = device->allocate(kBytes);
  REQUIRE((first && second));
  auto* const a = static_cast<std::byte*>(*first);
  auto* const b = static_cast<std::byte*>(*second);
  std::vector<std::byte> data(kBytes), seen(kBytes), expected(kBytes);
  for (size_t i = 0; i < kBytes; ++i) data[i] = static_cast<std::byte>(i * 7);
  const auto has = [&](std::byte* memory) {
    CHECK(!device->wait(device->copyOut(seen.data(), memory, kBytes, 1)));
    return seen == expected;
  };
  device->copyIn(a, data.data(), kBytes, 1);
  expected = data;
  CHECK(has(a));
  device->copyIn(a + 13, data.data() + 100, 3, 2);
  std::copy_n(data.begin() + 100, 3, expected.begin() + 13);
  CHECK(has(a));
  device->copyIn(a + 997, data.data() + 5, 3, 2);
  std::copy_n(data.begin() + 5, 3, expected.begin() + 997);
  CHECK(has(a));
  device->copyWithin(a + 8, a + 500, 100, 3);
  std::copy_n(expected.begin() + 500, 100, expected.begin() + 8);
  CHECK(has(a));
  device->copyWithin(a + 301, a + 5, 77, 3);
  std::copy_n(std::vector(expected.begin() + 5, expected.begin() + 82).begin(), 77, expected.begin() + 301);
  CHECK(has(a));
  device->copyWithin(b, a, kBytes, 4);
  CHECK(has(b));
  CHECK(!device->wait(device->copyOut(seen.data(), b + 333, 5, 5)));
  CHECK(std::equal(seen.begin(), seen.begin() + 5, expected.begin() + 333));
}

TEST_CASE("a device of WebGPU tells failures, and is usable after one") {
  if (const auto device = deviceHere()) checkFailures(*device);
}
