// One plan, loaded and bound to files: the C interface behind Result.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input_file.h"
#include "options.h"
#include "state_file.h"
#include "support/aligned_bytes.h"
#include "svod/runtime.h"

namespace svod {

struct OutputArray {
  std::string name;
  ElementType dtype = ElementType::F32;
  std::vector<uint64_t> shape;
  AlignedBytes data;
  std::optional<size_t> lengthOf;  // the output whose shape the elements are, after cutOutputs
};

/// What options say of devices, as the runtime takes it. Borrows from `options`.
std::vector<svod_device_option> deviceOptions(const RunOptions& options);

class Session {
 public:
  static Result<Session> open(const RunOptions& options);

  Status runOnce(uint64_t orderSeed);
  Status saveStates(const std::string& path) const { return svod::saveStates(path, plan_.get(), instance_.get()); }
  /// After the last run: outputs that a run fills in part shrink to what it filled. The output NAME.length, i64 with an
  /// entry per axis of NAME, says how much that is.
  Status cutOutputs();
  const std::vector<OutputArray>& outputs() const { return outputs_; }
  svod_plan_info info() const;
  /// NAME=value of every variable.
  std::vector<std::pair<std::string, int64_t>> variables() const;
  uint64_t instanceBytes() const { return svod_plan_instance_bytes(plan_.get(), svod_pool_threads(pool_.get())); }
  size_t threads() const { return svod_pool_threads(pool_.get()); }
  const svod_plan* plan() const { return plan_.get(); }
  const svod_instance* instance() const { return instance_.get(); }
  svod_instance* instance() { return instance_.get(); }
  /// How many pieces of work a thread remembers (svod_trace_get).
  size_t traceEvents() const { return traceEvents_; }
  std::vector<std::string> names(svod_kind kind) const;
  /// Of devices besides the host, for people: what they are, and what took time that it need not.
  std::vector<std::string> devices() const;
  std::vector<std::string> notes() const;

 private:
  struct Freer {
    void operator()(svod_plan* plan) const { svod_plan_free(plan); }
    void operator()(svod_pool* pool) const { svod_pool_free(pool); }
    void operator()(svod_instance* instance) const { svod_instance_free(instance); }
  };
  Result<size_t> find(svod_kind kind, const std::string& name) const;
  Status checkNames(const RunOptions& options) const;
  Status bindInputs(const RunOptions& options);
  /// --random.
  Status drawInputs(const RunOptions& options);
  Status bind(size_t input, InputArray array);
  Status bindOutputs();

  std::unique_ptr<svod_plan, Freer> plan_;
  std::unique_ptr<svod_pool, Freer> pool_;
  std::unique_ptr<svod_instance, Freer> instance_;
  size_t traceEvents_ = 0;
  std::deque<InputArray> inputs_;  // bound, so they stay where they are
  std::vector<OutputArray> outputs_;
};

}  // namespace svod
