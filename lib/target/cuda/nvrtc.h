// CUDA C to machine code for NVIDIA's GPUs with NVRTC, a library of NVIDIA that is opened by name: neither a GPU nor a
// driver is needed, and svodc is built without it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace svod {

/// Code of one kernel for one architecture, and what the log of the compiler says of it.
struct GpuCode {
  std::string arch;
  std::string bytes;  // a cubin, or the text of PTX
  uint32_t registers = 0;
  uint32_t spillBytes = 0;            // stored and loaded by a thread
  uint32_t stackBytes = 0;            // of a thread
  uint32_t sharedBytes = 0;           // of a workgroup, besides what a launch gives
  std::vector<std::string> warnings;  // of ptxas, such as those of serialized tensor cores (C75xx)
};

class Nvrtc {
 public:
  struct Library {
    virtual ~Library() = default;
  };

  /// Where to look: `named`, if it has a text, and nowhere else: a library or a folder with one; otherwise the library
  /// of the system, then every folder. Errors: CompileFailed, with how to get it.
  static Result<Nvrtc> open(const std::string& named, const std::vector<std::string>& folders);

  int major() const { return major_; }
  int minor() const { return minor_; }
  /// "NVRTC 13.0", of which code depends.
  std::string version() const;
  /// "sm_80", ..: what it has code for, without the letters that stand behind some of them.
  const std::vector<std::string>& archs() const { return archs_; }

  /// `arch` is "sm_90a" for a cubin, "compute_80" for PTX. Floats are contracted nowhere. The bytes depend on the
  /// arguments and the version alone. Thread-safe; calls of several threads run side by side. Errors: CompileFailed
  /// with what NVRTC says; Usage for an architecture that it does not have.
  Result<GpuCode> compile(const std::string& name, const std::string& source, const std::string& arch) const;

 private:
  std::shared_ptr<const Library> library_;  // stays open as long as it is used
  int major_ = 0, minor_ = 0;
  std::vector<std::string> archs_;
};

/// What `log` of ptxas says, into all but the bytes.
void readPtxasLog(std::string_view log, GpuCode& code);

}  // namespace svod
