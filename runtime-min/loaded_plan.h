// A plan in memory: checked, its code linked, its weights mapped. Immutable and shared by instances.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/mapped_file.h"
#include "plan/directory.h"
#include "plan/plan.h"
#include "runtime-min/processor.h"
#include "runtime-min/program.h"
#include "svod/runtime.h"

namespace svod {

class Device;

/// Ports, states and intermediate buffers as the C interface shows them.
struct TensorView {
  std::string name, dtype;
  std::vector<uint64_t> shape;
  std::vector<std::string> texts;
  std::vector<const char*> textPointers;
  svod_tensor c = {};
};

/// How a plan is loaded. `cpu` asks for one of the plan's processors; null takes the best for this machine.
struct LoadChoice {
  WeightsCheck weights = WeightsCheck::Small;
  const char* cpu = nullptr;
};

class LoadedPlan {
 public:
  /// The plan with what these devices launch of it, by DeviceId: another one where an architecture that one of them
  /// takes has launches of its own. After checkDevices. Errors: as for Device::choose.
  static Result<std::shared_ptr<const LoadedPlan>> forDevices(std::shared_ptr<const LoadedPlan> loaded,
                                                              std::span<Device* const> devices);
  /// A directory or a pack. With `table`, which is borrowed until this returns, no code of the plan is linked.
  static Result<std::shared_ptr<const LoadedPlan>> fromPath(const std::string& path, const LoadChoice& options,
                                                            const svod_function_table* table = nullptr);
  static Result<std::shared_ptr<const LoadedPlan>> fromDirectory(const std::string& path, const LoadChoice& options,
                                                                 const svod_function_table* table = nullptr);
  static Result<std::shared_ptr<const LoadedPlan>> fromPack(const std::string& path, const LoadChoice& options,
                                                            const svod_function_table* table = nullptr);
  static Result<std::shared_ptr<const LoadedPlan>> fromMemory(std::span<const svod_file> files,
                                                              const LoadChoice& options);
  LoadedPlan() = default;
  LoadedPlan(const LoadedPlan&) = delete;
  ~LoadedPlan();

  /// As it is for the processor that was taken: without variants for others.
  const Plan& plan() const { return plan_; }
  const ProcessorChoice& processors() const { return processors_; }
  const Program& program() const { return program_; }
  /// The same for devices that are given steps together: `queues` as in Program.
  Program programFor(std::span<const uint32_t> queues) const;
  const std::byte* constant(ConstantId id) const {
    return files_[plan_.constants[id].file].data() + plan_.constants[id].offset;
  }
  /// What a device loads.
  std::span<const std::byte> image(FileId id) const { return withoutRecord(files_[id]); }
  const std::vector<TensorView>& views(svod_kind kind) const { return views_[kind]; }
  /// The buffers of views(SVOD_INTERMEDIATE).
  const std::vector<BufferId>& intermediates() const { return intermediates_; }
  /// The variables a caller sees: indices into plan().variables.
  const std::vector<VariableId>& variables() const { return variables_; }
  const std::vector<std::string>& variableNames() const { return names_; }
  uint64_t stateBytes() const;  // with every state aligned

 private:
  struct FreeAligned {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{kPlanAlignment}); }
  };

  Status readManifest(std::string_view text, const std::string& name, const LoadChoice& options,
                      const svod_function_table* table = nullptr, std::span<Device* const> devices = {});
  /// The kernels can run here, or are functions of `table`, which is that of this plan. Takes the processor.
  Status chooseCode(const LoadChoice& options, const svod_function_table* table);
  /// Whether a launch has its kernel there.
  bool isUsed(const KernelDesc& kernel) const {
    return isUsed_[static_cast<size_t>(&kernel - plan_.kernels.data())] != 0;
  }
  /// Code that a launch runs: that of other processors is neither linked nor looked at.
  bool isLinked(FileId id) const;
  Checksum checksumOf(FileId id, WeightsCheck weights) const;
  Status checkRecord(FileId id, const std::string& shown) const;
  Status checkFile(FileId id, const std::string& shown, WeightsCheck weights) const;
  Status link(FileId id, const std::string& path, const std::string& shown);
  /// By an anonymous file, as the linker reads files only.
  Status linkCopy(FileId id, const std::string& shown);
  Result<KernelFunction> functionOf(const KernelDesc& kernel, const svod_function_table* table) const;
  Status finish(const svod_function_table* table = nullptr);
  void describe();
  void addView(svod_kind kind, std::string name, BufferId buffer, std::vector<std::string> texts);
  void addIntermediates();

  std::shared_ptr<const LoadedPlan> whole_;  // that this one is made of, with what it holds
  std::string manifest_;                     // where devices may take other launches
  Plan plan_;
  std::string record_;  // at the end of its code
  ProcessorChoice processors_;
  std::vector<uint8_t> isUsed_;                    // by KernelId
  std::vector<std::span<const std::byte>> files_;  // contents, by FileId
  std::vector<MappedFile> mapped_;
  std::vector<std::unique_ptr<std::byte[], FreeAligned>> copies_;
  std::vector<void*> libraries_;  // by FileId; null for files without code
  Program program_;
  std::vector<TensorView> views_[SVOD_INTERMEDIATE + 1];
  std::vector<BufferId> intermediates_;
  std::vector<VariableId> variables_;
  std::vector<std::string> names_;
};

}  // namespace svod
