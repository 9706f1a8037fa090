// svod/compiler.h for C++20: graphs from formulas, errors as values. Header only, no exceptions; calls of
// svod/compiler.h may be mixed in with get().
//
//   auto graph = svod::compiler::Graph::create("mlp");
//   auto x = graph->input<float>("x", {graph->variable("n", 1, 64), 784});
//   auto w = graph->weight("w", {784, 10}, std::span<const float>(weights));
//   graph->output("y", svod::compiler::ops::softmax(svod::compiler::ops::matmul(x, w)));
//   auto made = graph->compile({"--cpu", "x86-64-v3"});
//   if (!made) return made.error().exit_code;
//   auto plan = svod::runtime::Plan::load(made->planFiles());
//
// The first error of a graph stays: values behind it are none, and compile() returns it. A Graph and its values are for
// one thread at a time.
#ifndef SVOD_COMPILER_HPP
#define SVOD_COMPILER_HPP

#include <svod/compiler_values.hpp>

namespace svod::compiler {

/// What one compile made. Free of its graph.
class Artifacts {
 public:
  explicit Artifacts(svod_artifacts* made) : made_(made) {}
  std::size_t count() const { return svod_artifacts_count(get()); }
  std::string_view path(std::size_t index) const { return svod_artifacts_path(get(), index); }
  std::span<const std::byte> data(std::size_t index) const {
    std::size_t bytes = 0;
    const void* const data = svod_artifacts_data(get(), index, &bytes);
    return {static_cast<const std::byte*>(data), bytes};
  }
  /// The files of the plan, for svod::runtime::Plan::load. They are borrowed.
  std::vector<svod_file> planFiles() const {
    constexpr std::string_view kManifest = "plan.json";
    std::string_view folder;
    for (std::size_t i = 0; i < count(); ++i)
      if (path(i).ends_with(kManifest)) folder = path(i).substr(0, path(i).size() - kManifest.size());
    std::vector<svod_file> files;
    for (std::size_t i = 0; i < count(); ++i)
      if (path(i).starts_with(folder))
        files.push_back({path(i).data() + folder.size(), data(i).data(), data(i).size()});
    return files;
  }
  std::string_view report() const { return svod_artifacts_report(get()); }
  std::string_view notes() const { return svod_artifacts_notes(get()); }
  svod_artifacts* get() const { return made_.get(); }

 private:
  struct Deleter {
    void operator()(svod_artifacts* made) const { svod_artifacts_free(made); }
  };
  std::unique_ptr<svod_artifacts, Deleter> made_;
};

using Flags = std::vector<std::string>;

namespace detail {

template <class Compile>
Result<Artifacts> compiled(const Flags& flags, Compile compile) {
  std::vector<const char*> words;
  for (const std::string& flag : flags) words.push_back(flag.c_str());
  svod_artifacts* made = nullptr;
  const Failure failed =
      runtime::detail::call([&](Error* error) { return compile(words.data(), words.size(), &made, error); });
  if (failed) return *failed;
  return Artifacts(made);
}

inline const char* orNull(const std::string& folder) { return folder.empty() ? nullptr : folder.c_str(); }

}  // namespace detail

/// A graph file or an ONNX model. `folder`: where results go; empty: only into the artifacts.
inline Result<Artifacts> compileFile(const std::string& path, const Flags& flags = {}, const std::string& folder = {}) {
  return detail::compiled(flags, [&](auto words, std::size_t count, auto made, Error* error) {
    return svod_compile_file(path.c_str(), words, count, detail::orNull(folder), made, error);
  });
}

class Graph {
 public:
  static Result<Graph> create(const std::string& name) {
    svod_graph* handle = nullptr;
    const Failure failed =
        runtime::detail::call([&](Error* error) { return svod_graph_create(name.c_str(), &handle, error); });
    if (failed) return *failed;
    Graph graph;
    graph.state_ = std::make_unique<detail::State>();
    graph.state_->graph.reset(handle);
    return graph;
  }

  /// `likely` 0: the default.
  Size variable(const std::string& name, std::int64_t min, std::int64_t max, std::int64_t likely = 0) {
    svod_size size = 0;
    state_->call(
        [&](Error* error) { return svod_graph_variable(get(), name.c_str(), min, max, likely, &size, error); });
    return Size(state(), size);
  }
  Value input(const std::string& name, const char* dtype, const Sizes& shape) {
    return port(dtype, shape, [&](svod_type type, svod_value* value, Error* error) {
      return svod_graph_input(get(), name.c_str(), type, value, error);
    });
  }
  template <class Element>
  Value input(const std::string& name, const Sizes& shape) {
    return input(name, runtime::dtypeOf<Element>(), shape);
  }
  /// The bytes are read until the graph is gone.
  Value weight(const std::string& name, const char* dtype, const Sizes& shape, std::span<const std::byte> data) {
    return port(dtype, shape, [&](svod_type type, svod_value* value, Error* error) {
      return svod_graph_weight(get(), name.c_str(), type, data.data(), data.size(), value, error);
    });
  }
  template <class Element>
  Value weight(const std::string& name, const Sizes& shape, std::span<const Element> data) {
    return weight(name, runtime::dtypeOf<Element>(), shape, std::as_bytes(data));
  }
  /// Starts as zeros where there is no data.
  Value state(const std::string& name, const char* dtype, const Sizes& shape, std::span<const std::byte> data = {}) {
    return port(dtype, shape, [&](svod_type type, svod_value* value, Error* error) {
      return svod_graph_state(get(), name.c_str(), type, data.data(), data.size(), value, error);
    });
  }
  Value temporary(Operand start) {
    return made(
        [&](svod_value* value, Error* error) { return svod_graph_temporary(get(), start.in(*state()), value, error); });
  }
  void assign(Value target, Operand value) {
    const svod_value id = value.in(*state());
    state_->call([&](Error* error) { return svod_graph_assign(get(), target.get(), id, error); });
  }
  void output(const std::string& name, Value value) {
    state_->call([&](Error* error) { return svod_graph_output(get(), name.c_str(), value.get(), error); });
  }
  /// A size as an integer scalar, which ops cast.
  Value valueOf(Size size) {
    return made([&](svod_value* value, Error* error) { return svod_graph_value_of(get(), size.get(), value, error); });
  }
  /// `body(Size)` is built once, and runs `count` times.
  template <class Body>
  void loop(const std::string& counter, Size count, Body body) {
    svod_size index = 0;
    if (!state_->call(
            [&](Error* error) { return svod_graph_begin_loop(get(), counter.c_str(), count.get(), &index, error); }))
      return;
    body(Size(state(), index));
    state_->call([&](Error* error) { return svod_graph_end_loop(get(), error); });
  }

  /// The first error.
  const Failure& failed() const { return state_->failed; }
  Result<std::string> text() {
    const char* text = nullptr;
    state_->call([&](Error* error) { return svod_graph_text(get(), &text, error); });
    if (state_->failed) return *state_->failed;
    return std::string(text);
  }
  Result<Artifacts> compile(const Flags& flags = {}, const std::string& folder = {}) {
    if (state_->failed) return *state_->failed;
    return detail::compiled(flags, [&](auto words, std::size_t count, auto into, Error* error) {
      return svod_compile_graph(get(), words, count, detail::orNull(folder), into, error);
    });
  }
  detail::State* state() const { return state_.get(); }
  svod_graph* get() const { return state_->graph.get(); }

 private:
  Graph() = default;
  template <class Make>
  Value made(Make make) {
    svod_value value = 0;
    state_->call([&](Error* error) { return make(&value, error); });
    return Value(state(), value);
  }
  template <class Make>
  Value port(const char* dtype, const Sizes& shape, Make make) {
    std::vector<svod_size> dims;
    for (const Size& each : shape.values()) dims.push_back(each.get());
    return made([&](svod_value* value, Error* error) { return make({dtype, dims.data(), dims.size()}, value, error); });
  }
  std::unique_ptr<detail::State> state_;  // values point to it
};

}  // namespace svod::compiler

#include <svod/compiler_ops.hpp>

#endif
