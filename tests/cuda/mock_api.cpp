// The functions of the mock that find devices, keep contexts, load code and allocate.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/mock_api.h"
#include "runtime-cuda/driver.h"

using mock::Mock;

namespace mock {
extern thread_local std::vector<ContextObject*> stack;
}

namespace {

constexpr Code kInvalidContext = 201, kNotFound = 500, kInvalidImage = 200, kPeerUnsupported = 217;

bool isDevice(Mock& m, int device) {
  if (device >= 0 && device < m.config.devices) return true;
  m.wrong("a device that is none");
  return false;
}

}  // namespace

extern "C" {

Code cuInit(unsigned flags) {
  MOCK_ENTER("cuInit");
  if (flags != 0) m.wrong("cuInit with flags");
  m.isStarted = true;
  if (m.config.initCode != 0) return m.config.initCode;
  return m.config.devices == 0 ? kNoDevice : kSuccess;
}

Code cuDriverGetVersion(int* version) {
  MOCK_ENTER("cuDriverGetVersion");
  *version = m.config.version;
  return kSuccess;
}

Code cuGetErrorName(Code code, const char** text) {
  struct Name {
    Code code;
    const char* name;
  };
  static constexpr Name kNames[] = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                    {100, "CUDA_ERROR_NO_DEVICE"},
                                    {200, "CUDA_ERROR_INVALID_IMAGE"},
                                    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                                    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
                                    {999, "CUDA_ERROR_UNKNOWN"}};
  for (const Name& row : kNames)
    if (row.code == code) return *text = row.name, kSuccess;
  *text = nullptr;
  return kInvalidValue;
}

Code cuGetErrorString(Code code, const char** text) {
  *text = code == 700 ? "an illegal memory access was encountered"
          : code == 2 ? "out of memory"
                      : "as the mock was told";
  return kSuccess;
}

Code cuDeviceGetCount(int* count) {
  MOCK_ENTER("cuDeviceGetCount");
  *count = m.config.devices;
  return kSuccess;
}

Code cuDeviceGet(DeviceNumber* device, int ordinal) {
  MOCK_ENTER("cuDeviceGet");
  if (ordinal < 0 || ordinal >= m.config.devices) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Code cuDeviceGetName(char* name, int room, DeviceNumber device) {
  MOCK_ENTER("cuDeviceGetName");
  if (!isDevice(m, device)) return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(room), "Mock GPU %d", device);
  return kSuccess;
}

Code cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceNumber device) {
  MOCK_ENTER("cuDeviceGetAttribute");
  if (!isDevice(m, device)) return kInvalidDevice;
  switch (static_cast<int>(attribute)) {
    case 8: *value = 48 << 10; break;
    case 16: *value = 132; break;
    case 75: *value = m.config.major; break;
    case 76: *value = m.config.minor; break;
    case 97: *value = m.config.sharedBytes; break;
    default: m.wrong("an attribute of devices that the mock does not know"); return kInvalidValue;
  }
  return kSuccess;
}

Code cuDeviceGetUuid_v2(Uuid* uuid, DeviceNumber device) {
  MOCK_ENTER("cuDeviceGetUuid_v2");
  if (!isDevice(m, device)) return kInvalidDevice;
  for (size_t i = 0; i < sizeof uuid->bytes; i++) uuid->bytes[i] = static_cast<char>(device * 16 + static_cast<int>(i));
  return kSuccess;
}

Code cuDeviceTotalMem_v2(size_t* bytes, DeviceNumber device) {
  MOCK_ENTER("cuDeviceTotalMem_v2");
  if (!isDevice(m, device)) return kInvalidDevice;
  *bytes = m.config.memoryBytes;
  return kSuccess;
}

Code cuDeviceCanAccessPeer(int* can, DeviceNumber device, DeviceNumber peer) {
  MOCK_ENTER("cuDeviceCanAccessPeer");
  if (!isDevice(m, device) || !isDevice(m, peer)) return kInvalidDevice;
  *can = m.config.canAccessPeer && device != peer;
  return kSuccess;
}

Code cuDevicePrimaryCtxRetain(Context* context, DeviceNumber device) {
  MOCK_ENTER("cuDevicePrimaryCtxRetain");
  if (!isDevice(m, device)) return kInvalidDevice;
  auto& found = m.contexts[device];
  if (!found) found = std::make_unique<ContextObject>(ContextObject{device, 0, 0});
  found->references++;
  *context = found.get();
  return kSuccess;
}

Code cuDevicePrimaryCtxRelease_v2(DeviceNumber device) {
  MOCK_ENTER("cuDevicePrimaryCtxRelease_v2");
  if (!m.contexts.contains(device) || m.contexts.at(device)->references == 0)
    return m.wrong("a context is released too often"), kInvalidContext;
  if (m.contexts.at(device)->poison != 0) m.wrong("a lost context is released");
  m.contexts.at(device)->references--;
  return kSuccess;
}

Code cuCtxPushCurrent_v2(Context context) {
  Mock& m = Mock::get();
  const std::lock_guard mockLock(m.mutex);
  if (const auto told = m.enter("cuCtxPushCurrent_v2", false)) {
    if (endsContext(*told)) context->poison = *told;
    return *told;
  }
  bool isKnown = false;
  for (const auto& [device, known] : m.contexts) isKnown = isKnown || (known.get() == context && known->references > 0);
  if (!isKnown) return m.wrong("a context that is not retained is made current"), kInvalidContext;
  mock::stack.push_back(context);
  return kSuccess;
}

Code cuCtxPopCurrent_v2(Context* context) {
  Mock& m = Mock::get();
  const std::lock_guard mockLock(m.mutex);
  const auto told = m.enter("cuCtxPopCurrent_v2", false);  // what is taken away is away, also with an error
  if (mock::stack.empty()) return m.wrong("no context is current that could be taken away"), kInvalidContext;
  *context = mock::stack.back();
  mock::stack.pop_back();
  return told.value_or(kSuccess);
}

Code cuCtxEnablePeerAccess(Context peer, unsigned flags) {
  MOCK_CALL("cuCtxEnablePeerAccess");
  if (flags != 0 || peer == context) return m.wrong("access to a peer with flags, or to itself"), kInvalidValue;
  if (!m.config.canAccessPeer) return kPeerUnsupported;
  return m.peers.insert({context, peer}).second ? kSuccess : kPeerAccessAlreadyEnabled;
}

Code cuModuleLoadDataEx(Module* module, const void* image, unsigned count, JitOption* options, void** values) {
  MOCK_CALL("cuModuleLoadDataEx");
  if (reinterpret_cast<uintptr_t>(image) % 8 != 0 && std::memcmp(image, "mock ptx", 8) != 0)
    m.wrong("an image that is not aligned");
  char arch[32] = "", kind[32] = "";
  size_t bytes = 0;
  const bool isRead = std::sscanf(static_cast<const char*>(image), "mock %31s %31s %zu\n", kind, arch, &bytes) == 3;
  auto function = std::make_unique<FunctionObject>();
  function->context = context;
  std::string named;
  bool isPtx = false;
  if (!isRead || !mock::readImage({static_cast<const char*>(image), bytes}, *function, named, isPtx)) {
    for (unsigned i = 0; i < count; i++)
      if (options[i] == kErrorLog) std::strcpy(static_cast<char*>(values[i]), "mock: this is no image");
    return kInvalidImage;
  }
  if (isPtx && static_cast<const char*>(image)[bytes] != '\0') m.wrong("PTX without a zero at its end");
  auto made = std::make_unique<ModuleObject>(ModuleObject{context, function.get()});
  *module = made.get();
  m.functions[function.get()] = std::move(function);
  m.modules[*module] = std::move(made);
  return kSuccess;
}

Code cuModuleUnload(Module module) {
  MOCK_CALL("cuModuleUnload");
  if (!m.modules.contains(module)) return m.wrong("a module that is none is unloaded"), kInvalidValue;
  m.functions.erase(module->function);
  m.modules.erase(module);
  return kSuccess;
}

Code cuModuleGetFunction(Function* function, Module module, const char* name) {
  MOCK_CALL("cuModuleGetFunction");
  if (!m.modules.contains(module) || module->context != context)
    return m.wrong("a function of no module"), kInvalidValue;
  if (module->function->name != name) return kNotFound;
  *function = module->function;
  return kSuccess;
}

Code cuFuncGetAttribute(int* value, FunctionAttribute attribute, Function function) {
  MOCK_CALL("cuFuncGetAttribute");
  if (!m.functions.contains(function)) return m.wrong("an attribute of no function"), kInvalidValue;
  *value = attribute == kMostThreads         ? function->mostThreads
           : attribute == kStaticSharedBytes ? function->staticBytes
                                             : function->registers;
  return kSuccess;
}

Code cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  MOCK_CALL("cuFuncSetAttribute");
  if (!m.functions.contains(function) || attribute != kDynamicSharedBytes)
    return m.wrong("an attribute that the mock does not know"), kInvalidValue;
  if (value + function->staticBytes > m.config.sharedBytes) return kInvalidValue;
  function->dynamicBytes = value;
  return kSuccess;
}

Code cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function, int threads, size_t sharedBytes) {
  MOCK_CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  if (!m.functions.contains(function)) return m.wrong("the occupancy of no function"), kInvalidValue;
  const bool fits = threads * function->registers <= 65536 && static_cast<int>(sharedBytes) <= function->dynamicBytes;
  *blocks = fits ? 1 : 0;
  return kSuccess;
}

}  // extern "C"
