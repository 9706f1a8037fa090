// What the adapters of this machine are, as their drivers say it.
#pragma once
#include <string>
#include <vector>

#include "runtime-webgpu/library.h"

namespace svod::webgpu {

struct AdapterInfo {
  int ordinal = 0;
  std::string name, driver;
  Number backend = 0, type = 0;
  Limits limits;
};

/// All adapters of an instance of its own, which is kept as long as this object.
class Adapters {
 public:
  /// Errors: NoDevice where there is none.
  static Result<Adapters> find(const Library& wgpu);
  Adapters(Adapters&& other) noexcept;
  Adapters(const Adapters&) = delete;
  Adapters& operator=(const Adapters&) = delete;
  ~Adapters();

  size_t count() const { return handles_.size(); }
  AdapterHandle handle(size_t i) const { return handles_[i]; }
  const AdapterInfo& info(size_t i) const { return infos_[i]; }

 private:
  explicit Adapters(const Library& wgpu) : wgpu_(wgpu) {}

  Library wgpu_;
  InstanceHandle instance_ = nullptr;
  std::vector<AdapterHandle> handles_;
  std::vector<AdapterInfo> infos_;
};

/// "webgpu:0, llvmpipe (LLVM 15.0.6, 256 bits)"
std::string nameText(const AdapterInfo& info);
std::string longText(const AdapterInfo& info);

}  // namespace svod::webgpu
