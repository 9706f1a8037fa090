#include "runtime-cuda/driver.h"

#include <dlfcn.h>

#include "support/says.h"

namespace svod::cuda {

namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr const char* kNoDriverHelp =
    "install the NVIDIA driver of this machine, or compile the graph for another --target";

using AnyFunction = void (*)();

struct Call {
  const char *name, *symbol;  // symbol: with the suffix of its ABI
  int version;
  bool isNeeded;
  AnyFunction* address;
};

/// What there was before CUDA 12: by name alone. After it: by the version whose parameters we know.
using GetProcAddress = Code (*)(const char*, void**, int, uint64_t, int*);

AnyFunction find(void* library, GetProcAddress getProcAddress, const Call& call) {
  void* address = nullptr;
  int status = 0;
  if (getProcAddress != nullptr && getProcAddress(call.name, &address, call.version, 0, &status) != kSuccess)
    address = nullptr;
  if (address == nullptr) address = ::dlsym(library, call.symbol);
  return reinterpret_cast<AnyFunction>(address);
}

struct Branch {
  int version;  // of CUDA
  const char* branch;
};
constexpr Branch kBranches[] = {{11000, "450"}, {11010, "455"}, {11020, "460"}, {11030, "465"}, {11040, "470"},
                                {11050, "495"}, {11060, "510"}, {11070, "515"}, {11080, "520"}, {12000, "525"},
                                {12010, "530"}, {12020, "535"}, {12030, "545"}, {12040, "550"}, {12050, "555"},
                                {12060, "560"}, {12080, "570"}, {12090, "575"}, {13000, "580"}};

}  // namespace

std::string versionText(int version) { return says({version / 1000, ".", version % 1000 / 10}); }

std::string driverBranchText(int version) {
  for (const Branch& row : kBranches)
    if (row.version >= version) return says({row.branch, " (CUDA ", versionText(version), ")"});
  return says({"of CUDA ", versionText(version)});
}

bool endsContext(Code code) {
  return code == kEccUncorrectable || code == kNvlinkUncorrectable || code == kIllegalAddress ||
         code == kLaunchTimeout || code == kContextDestroyed || code == kAssert ||
         (code >= kHardwareStackError && code <= kLaunchFailed) || code == kTensorMemoryLeak;
}

Result<Driver> Driver::open(const std::string& given) {
  const std::string name = given.empty() ? kLibrary : given;
  // Never closed: the driver has threads of its own, and other libraries of the process use it.
  void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return fail(Diag::NoDevice, says({"there is no CUDA driver: ", reason != nullptr ? reason : name.c_str()}),
                kNoDriverHelp);
  }
  Driver driver;
  const Call calls[] = {
#define CALL(name, suffix, version, isNeeded, parameters) \
  {#name, #name #suffix, version, isNeeded, reinterpret_cast<AnyFunction*>(&driver.name)},
#include "runtime-cuda/driver_calls.def"
#undef CALL
  };
  const auto getProcAddress = reinterpret_cast<GetProcAddress>(::dlsym(library, "cuGetProcAddress_v2"));
  for (const Call& call : calls) {
    *call.address = find(library, getProcAddress, call);
    if (*call.address == nullptr && call.isNeeded)
      return fail(Diag::NoDevice, says({"the CUDA driver '", name, "' has no function ", call.symbol}),
                  says({"install a driver of branch ", driverBranchText(call.version), " or later"}));
  }
  SVOD_CHECK(driver.start());
  return driver;
}

Status Driver::start() {
  const Code code = cuInit(0);
  if (code == kSystemDriverMismatch)
    return svod::fail(
        Diag::NoDevice, says({"the CUDA driver does not start: ", nameOf(code)}),
        "the driver in the kernel is of another version than libcuda.so.1: restart the machine, or make both the "
        "same");
  if (code == kCompatNotSupported)
    return svod::fail(
        Diag::NoDevice, says({"the CUDA driver does not start: ", nameOf(code)}),
        "a compatibility libcuda.so.1 is first in the loader's path, which this device does not support: take it "
        "out of LD_LIBRARY_PATH");
  if (code == kNoDevice)
    return svod::fail(
        Diag::NoDevice, "the CUDA driver sees no device",
        "nvidia-smi lists those of the machine; CUDA_VISIBLE_DEVICES hides some, and a container needs --gpus");
  if (code == kStubLibrary)
    return svod::fail(Diag::NoDevice, "libcuda.so.1 is the stub of a toolkit, not a driver",
                      "take the folder of stubs out of LD_LIBRARY_PATH");
  if (code != kSuccess)
    return svod::fail(Diag::NoDevice, says({"the CUDA driver does not start: ", nameOf(code)}), kNoDriverHelp);
  SVOD_CUDA(*this, "ask for the version of the driver", cuDriverGetVersion(&version_));
  return {};
}

bool Driver::hasGraphs() const {
  return cuGraphCreate != nullptr && cuGraphDestroy != nullptr && cuGraphAddKernelNode != nullptr &&
         cuGraphKernelNodeSetAttribute != nullptr && cuGraphAddMemcpyNode != nullptr &&
         cuGraphInstantiateWithFlags != nullptr && cuGraphExecDestroy != nullptr &&
         cuGraphExecKernelNodeSetParams != nullptr && cuGraphExecMemcpyNodeSetParams != nullptr &&
         cuGraphUpload != nullptr && cuGraphLaunch != nullptr;
}

std::string Driver::nameOf(Code code) const {
  if (code == kNotAligned) return "an argument does not start at a multiple of what the kernel needs";
  if (code == kTooManyGroups) return "the launch has more workgroups than the device takes";
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(code, &name) != kSuccess || name == nullptr) name = "an unknown error";
  if (cuGetErrorString(code, &text) != kSuccess) text = nullptr;
  return text == nullptr ? says({name, " (", code, ")"}) : says({name, " (", code, "), ", text});
}

tl::unexpected<Error> Driver::failed(Code code, std::string_view what) const {
  const std::string message = says({"cannot ", what, ": ", nameOf(code)});
  if (code == kOutOfMemory)
    return svod::fail(Diag::DeviceBusy, message,
                      "free memory of the device (nvidia-smi shows who holds it), or compile for smaller sizes: svodc "
                      "compile --var NAME=MIN:MAX");
  if (code == kDeviceUnavailable)
    return svod::fail(Diag::DeviceBusy, message,
                      "another process has the device for itself: wait for it, or use another");
  if (endsContext(code))
    return svod::fail(Diag::DeviceFailure, message,
                      "an earlier failure ended the device's context in this process: start the program anew");
  return svod::fail(Diag::DeviceFailure, message, "nvidia-smi shows the state of the device");
}

}  // namespace svod::cuda
