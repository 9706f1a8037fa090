// The caller's side of an instance: variables, inputs and outputs, and what follows from them. Nothing here
// allocates after construction unless there is an error to describe.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime-min/loaded_plan.h"

namespace svod {

class Bindings {
 public:
  explicit Bindings(const LoadedPlan& loaded);

  Status setVariable(VariableId id, int64_t value);
  void clearVariable(VariableId id);
  /// `data` is an address of `device`.
  Status bindInput(size_t index, const char* dtype, std::span<const uint64_t> shape, const void* data,
                   DeviceId device = 0);
  Status bindOutput(size_t index, void* data, uint64_t bytes, DeviceId device = 0);

  /// `what`, whose memory the buffer is, can be on the device: the plan only copies it to and from there.
  Status checkDevice(const std::string& what, BufferId buffer, DeviceId device) const;

  /// Finds the value of every variable and the shape of every input and output, and checks them.
  Status resolve();
  bool isComplete() const { return resolved_ && complete_; }
  /// resolve(), and every input and output has memory that fits and does not overlap an output.
  Status complete();

  // Valid after resolve().
  std::span<const int64_t> values() const { return values_; }  // by VariableId; loop variables are 0
  std::span<const uint64_t> shape(svod_kind kind, size_t index) const { return ports_[kind][index].shape; }
  uint64_t bytes(svod_kind kind, size_t index) const { return ports_[kind][index].bytes; }
  void* data(svod_kind kind, size_t index) const { return ports_[kind][index].data; }
  DeviceId device(svod_kind kind, size_t index) const { return ports_[kind][index].device; }
  /// Changes whenever complete() has something new to run with.
  uint64_t version() const { return version_; }

 private:
  struct PortState {
    const Port* port = nullptr;
    const BufferDesc* buffer = nullptr;
    const char* word = "";  // "input" or "output"
    bool isInput = false;
    bool bound = false;
    void* data = nullptr;
    DeviceId device = 0;          // of data
    uint64_t room = 0;            // Output: bytes at data
    std::vector<uint64_t> given;  // Input: the bound shape
    std::vector<uint64_t> shape;  // what resolve() found
    uint64_t bytes = 0;
  };
  /// Where a variable's value comes from.
  struct Source {
    bool known = false, set = false;
    uint32_t input = 0, axis = 0;
  };
  struct Extent {
    uintptr_t begin = 0, end = 0;
    const PortState* port = nullptr;
  };

  std::string describe(const Source& source, int64_t value) const;
  /// What to do where a variable has this value and another one.
  std::string agreementHelp(const Source& source, int64_t value, const Source& other) const;
  Status inferVariables();
  Status inferFrom(uint32_t input, uint32_t axis);
  std::optional<VariableId> onlyUnknown(const Expr& dim) const;
  Result<bool> solveFor(uint32_t input, uint32_t axis);
  Status checkVariables() const;
  Status checkSizes() const;
  void findPartners();
  Status findShape(PortState& port);
  Status checkMemory(const PortState& port) const;
  Status checkOverlaps();

  const LoadedPlan& loaded_;
  std::vector<DeviceId> partners_;           // by BufferId: the only device it is copied to and from, or the host
  std::vector<PortState> ports_[2];          // by svod_kind
  std::vector<std::optional<int64_t>> set_;  // by VariableId
  std::vector<int64_t> values_;
  std::vector<Source> sources_;
  std::vector<Extent> extents_;
  bool resolved_ = false, complete_ = false;
  uint64_t version_ = 0;
};

}  // namespace svod
