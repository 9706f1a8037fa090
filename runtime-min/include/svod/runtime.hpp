// svod/runtime.h for C++20: what was made is freed at the end of its scope, arrays are spans, errors are values. Header
// only, no exceptions; it adds no state, so calls of svod/runtime.h may be mixed in with get().
//
//   auto plan = svod::runtime::Plan::load("model.plan");
//   if (!plan) return plan.error().exit_code;
//   auto instance = svod::runtime::Instance::create(*plan);
//   if (auto failed = instance->bindInput("x", std::span(x), {3, 4})) return failed->exit_code;
#ifndef SVOD_RUNTIME_HPP
#define SVOD_RUNTIME_HPP

#include <svod/runtime.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace svod::runtime {

using Error = svod_error;
/// Nothing when all went well: `if (auto failed = instance.execute()) report(*failed);`
using Failure = std::optional<Error>;

/// A value, or the error that was met instead of it.
template <class T>
class Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(const Error& error) : held_(std::in_place_index<1>, error) {}
  explicit operator bool() const { return held_.index() == 0; }
  T& operator*() { return *std::get_if<0>(&held_); }
  const T& operator*() const { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

/// The dtype of elements that C++ has a type for; nullptr for others, which are bound as bytes with a dtype.
template <class T>
constexpr const char* dtypeOf() {
  using U = std::remove_cv_t<T>;
  constexpr bool isWhole = std::is_integral_v<U>, isSigned = std::is_signed_v<U>;
  if constexpr (std::is_same_v<U, bool>) return "bool";
  if constexpr (std::is_same_v<U, float>) return "f32";
  if constexpr (std::is_same_v<U, double>) return "f64";
  if constexpr (isWhole && sizeof(U) == 1) return isSigned ? "i8" : "u8";
  if constexpr (isWhole && sizeof(U) == 2) return isSigned ? "i16" : "u16";
  if constexpr (isWhole && sizeof(U) == 4) return isSigned ? "i32" : "u32";
  if constexpr (isWhole && sizeof(U) == 8) return isSigned ? "i64" : "u64";
  return nullptr;
}

namespace detail {

inline Error makeError(int exitCode, std::string_view code, std::string_view message) {
  Error error{};
  error.exit_code = exitCode;
  code.copy(error.code, sizeof error.code - 1);
  message.copy(error.message, sizeof error.message - 1);
  return error;
}

/// Calls `function` with a place for the error.
template <class Function>
Failure call(Function function) {
  Error error{};
  if (function(&error) == 0) return std::nullopt;
  return error;
}

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};

}  // namespace detail

/// Code and weights: shared by any number of instances, which keep them alive.
class Plan {
 public:
  static Result<Plan> load(const std::string& path, const svod_load_options* options = nullptr) {
    return make([&](svod_plan** plan, Error* error) { return svod_plan_load(path.c_str(), options, plan, error); });
  }
  static Result<Plan> load(std::span<const svod_file> files, const svod_load_options* options = nullptr) {
    return make([&](svod_plan** plan, Error* error) {
      return svod_plan_load_memory(files.data(), files.size(), options, plan, error);
    });
  }

  svod_plan_info info() const {
    svod_plan_info info;
    svod_plan_get_info(get(), &info);
    return info;
  }
  /// The index of a name.
  std::optional<std::size_t> find(svod_kind kind, const std::string& name) const {
    const std::size_t index = svod_plan_find(get(), kind, name.c_str());
    return index == SVOD_NONE ? std::nullopt : std::optional(index);
  }
  std::optional<svod_tensor> tensor(svod_kind kind, std::size_t index) const {
    svod_tensor tensor;
    return svod_plan_tensor(get(), kind, index, &tensor) == 0 ? std::optional(tensor) : std::nullopt;
  }
  std::optional<svod_variable> variable(std::size_t index) const {
    svod_variable variable;
    return svod_plan_variable(get(), index, &variable) == 0 ? std::optional(variable) : std::nullopt;
  }
  svod_plan* get() const { return handle_.get(); }

 private:
  template <class Load>
  static Result<Plan> make(Load load) {
    Plan plan;
    svod_plan* handle = nullptr;
    if (const Failure failed = detail::call([&](Error* error) { return load(&handle, error); })) return *failed;
    plan.handle_.reset(handle);
    return plan;
  }
  std::unique_ptr<svod_plan, detail::Deleter<svod_plan_free>> handle_;
};

/// Worker threads, which instances made with it keep.
class Pool {
 public:
  /// 0: one per processor.
  static Result<Pool> create(std::size_t threads = 0) {
    Pool pool;
    pool.handle_.reset(svod_pool_create(threads));
    if (pool.get() == nullptr) return detail::makeError(6, "device-failure", "the system refuses a thread");
    return pool;
  }
  std::size_t threads() const { return svod_pool_threads(get()); }
  svod_pool* get() const { return handle_.get(); }

 private:
  std::unique_ptr<svod_pool, detail::Deleter<svod_pool_free>> handle_;
};

/// Memory, bindings and states of one user of a plan.
class Instance {
 public:
  static Result<Instance> create(const Plan& plan, const svod_instance_options& options = {}) {
    Instance instance(plan.get());
    svod_instance* handle = nullptr;
    const auto make = [&](Error* error) { return svod_instance_create(plan.get(), &options, &handle, error); };
    if (const Failure failed = detail::call(make)) return *failed;
    instance.handle_.reset(handle);
    return instance;
  }
  static Result<Instance> create(const Plan& plan, const Pool& pool) {
    svod_instance_options options{};
    options.pool = pool.get();
    return create(plan, options);
  }

  /// Lends `data` until another binding. The error says when the shape has more elements than the span.
  template <class T, std::size_t N>
  Failure bindInput(const std::string& name, std::span<T, N> data, std::span<const std::uint64_t> shape) {
    static_assert(dtypeOf<T>() != nullptr, "bind elements of this type as bytes, with their dtype");
    std::uint64_t count = 1;
    for (const std::uint64_t dim : shape) count *= dim;
    if (count > data.size())
      return detail::makeError(1, "input-mismatch",
                               "the shape of '" + name + "' has " + std::to_string(count) + " elements, the data " +
                                   std::to_string(data.size()));
    return bindInput(name, dtypeOf<T>(), shape, data.data());
  }
  template <class T, std::size_t N>
  Failure bindInput(const std::string& name, std::span<T, N> data, std::initializer_list<std::uint64_t> shape) {
    return bindInput(name, data, std::span(shape.begin(), shape.size()));
  }
  Failure bindInput(const std::string& name, const char* dtype, std::span<const std::uint64_t> shape,
                    const void* data) {
    std::size_t index = 0;
    if (const Failure failed = find(SVOD_INPUT, name, index)) return failed;
    return detail::call(
        [&](Error* error) { return svod_bind_input(get(), index, dtype, shape.data(), shape.size(), data, error); });
  }
  /// Lends the room of `data`; how much of it a run fills, shape() says.
  template <class T, std::size_t N>
  Failure bindOutput(const std::string& name, std::span<T, N> data) {
    std::size_t index = 0;
    if (const Failure failed = find(SVOD_OUTPUT, name, index)) return failed;
    return detail::call(
        [&](Error* error) { return svod_bind_output(get(), index, data.data(), data.size_bytes(), error); });
  }

  Failure setVariable(const std::string& name, std::int64_t value) {
    std::size_t index = 0;
    if (const Failure failed = find(SVOD_VARIABLE, name, index)) return failed;
    return detail::call([&](Error* error) { return svod_set_variable(get(), index, value, error); });
  }
  /// Under the current variables and bindings.
  Result<std::vector<std::uint64_t>> shape(svod_kind kind, const std::string& name) const {
    std::size_t index = 0;
    if (const Failure failed = find(kind, name, index)) return *failed;
    svod_tensor tensor{};
    std::vector<std::uint64_t> dims(svod_plan_tensor(plan_, kind, index, &tensor) == 0 ? tensor.rank : 0);
    const auto ask = [&](Error* error) { return svod_get_shape(get(), kind, index, dims.data(), nullptr, error); };
    if (const Failure failed = detail::call(ask)) return *failed;
    return dims;
  }
  /// The memory of a state, between runs; empty when there is none of that name, or a device holds it.
  std::span<std::byte> state(const std::string& name) {
    const std::size_t index = svod_plan_find(plan_, SVOD_STATE, name.c_str());
    auto* const data = static_cast<std::byte*>(svod_state_data(get(), index));
    svod_tensor tensor{};
    if (data == nullptr || svod_plan_tensor(plan_, SVOD_STATE, index, &tensor) != 0) return {};
    return {data, static_cast<std::size_t>(tensor.max_bytes)};
  }
  /// Copies of all of a state, wherever it is.
  Failure readState(const std::string& name, std::span<std::byte> to) {
    std::size_t index = 0;
    if (const Failure failed = find(SVOD_STATE, name, index)) return failed;
    return detail::call([&](Error* error) { return svod_read_state(get(), index, to.data(), to.size(), error); });
  }
  Failure writeState(const std::string& name, std::span<const std::byte> from) {
    std::size_t index = 0;
    if (const Failure failed = find(SVOD_STATE, name, index)) return failed;
    return detail::call([&](Error* error) { return svod_write_state(get(), index, from.data(), from.size(), error); });
  }
  void resetStates() { svod_reset_states(get()); }

  Failure execute(const svod_execute_options* options = nullptr) {
    return detail::call([&](Error* error) { return svod_execute(get(), options, error); });
  }
  /// Returns when the devices have the work; wait() says how the runs ended that were enqueued.
  Failure enqueue(const svod_execute_options* options = nullptr) {
    return detail::call([&](Error* error) { return svod_enqueue(get(), options, error); });
  }
  /// Where work of the device goes from here on: a stream of the caller, or SVOD_OWN_STREAM.
  Failure setStream(std::size_t device, void* stream) {
    return detail::call([&](Error* error) { return svod_set_stream(get(), device, stream, error); });
  }
  Failure submit(const svod_submit_options* options = nullptr) {
    return detail::call([&](Error* error) { return svod_submit(get(), options, error); });
  }
  Failure wait() {
    return detail::call([&](Error* error) { return svod_wait(get(), error); });
  }
  void stop() { svod_stop(get()); }
  svod_instance* get() const { return handle_.get(); }

 private:
  Failure find(svod_kind kind, const std::string& name, std::size_t& index) const {
    constexpr const char* kWords[] = {"input", "output", "state", "variable", "intermediate"};
    index = svod_plan_find(plan_, kind, name.c_str());
    if (index != SVOD_NONE) return std::nullopt;
    return detail::makeError(1, "unknown-port", std::string("the plan has no ") + kWords[kind] + " '" + name + "'");
  }
  explicit Instance(svod_plan* plan) : plan_(plan) {}
  svod_plan* plan_;  // a name is looked up in it: the Plan outlives the use of names
  std::unique_ptr<svod_instance, detail::Deleter<svod_instance_free>> handle_;
};

}  // namespace svod::runtime

#endif
