// Values, sizes and calls of graphs under construction; included by svod/compiler.hpp.
#ifndef SVOD_COMPILER_VALUES_HPP
#define SVOD_COMPILER_VALUES_HPP

#include <svod/compiler.h>
#include <svod/runtime.hpp>

#include <concepts>
#include <string_view>

namespace svod::compiler {

using runtime::Error;
using runtime::Failure;
using runtime::Result;

namespace detail {

struct GraphDeleter {
  void operator()(svod_graph* graph) const { svod_graph_free(graph); }
};

/// A graph and its first error.
struct State {
  std::unique_ptr<svod_graph, GraphDeleter> graph;
  Failure failed;

  /// Whether the call went well; after an error none is made.
  template <class Call>
  bool call(Call function) {
    if (failed) return false;
    failed = runtime::detail::call(function);
    return !failed;
  }
};

}  // namespace detail

/// A number, or a size that runs give.
class Size {
 public:
  template <std::integral Number>
  Size(Number number) : number_(static_cast<svod_size>(number)) {}
  Size(detail::State* state, svod_size number) : state_(state), number_(number) {}
  svod_size get() const { return number_; }

  friend Size operator+(Size a, Size b) { return made('+', a, b); }
  friend Size operator-(Size a, Size b) { return made('-', a, b); }
  friend Size operator*(Size a, Size b) { return made('*', a, b); }
  friend Size operator/(Size a, Size b) { return made('/', a, b); }  // rounded toward -infinity
  friend Size operator%(Size a, Size b) { return made('%', a, b); }

 private:
  static Size made(char sign, Size a, Size b) {
    detail::State* const state = a.state_ != nullptr ? a.state_ : b.state_;
    if (state == nullptr) return numbers(sign, a.number_, b.number_);
    Size size(state, 0);
    state->call([&](Error* error) {
      return svod_graph_size(state->graph.get(), sign, a.get(), b.get(), &size.number_, error);
    });
    return size;
  }
  static Size numbers(char sign, svod_size a, svod_size b) {
    if (sign == '+') return a + b;
    if (sign == '-') return a - b;
    if (sign == '*') return a * b;
    if (b == 0) return 0;
    const svod_size rest = ((a % b) + b) % b;
    return sign == '%' ? rest : (a - rest) / b;
  }
  detail::State* state_ = nullptr;
  svod_size number_ = 0;
};

/// What an attribute takes: one, or a list.
template <class Element>
class OneOrMore {
 public:
  template <class Single>
    requires std::convertible_to<Single, Element>
  OneOrMore(Single one) : values_{Element(one)}, isOne_(true) {}
  OneOrMore(std::initializer_list<Element> all) : values_(all) {}
  OneOrMore(std::vector<Element> all) : values_(std::move(all)) {}
  const std::vector<Element>& values() const { return values_; }
  std::size_t count() const { return isOne_ ? SVOD_NONE : values_.size(); }

 private:
  std::vector<Element> values_;
  bool isOne_ = false;
};
using Sizes = OneOrMore<Size>;
using Integers = OneOrMore<std::int64_t>;
using Numbers = OneOrMore<double>;

/// A tensor of a graph, or none.
class Value {
 public:
  Value() = default;
  Value(detail::State* state, svod_value id) : state_(state), id_(id) {}
  explicit operator bool() const { return id_ != 0; }
  svod_value get() const { return id_; }
  detail::State* state() const { return state_; }
  std::size_t rank() const { return state_ == nullptr ? 0 : svod_graph_rank(state_->graph.get(), id_); }
  std::string_view dtype() const { return state_ == nullptr ? "" : svod_graph_dtype(state_->graph.get(), id_); }
  Size dim(int axis) const {
    svod_size size = 0;
    if (state_ != nullptr)
      state_->call([&](Error* error) { return svod_graph_dim(state_->graph.get(), id_, axis, &size, error); });
    return Size(state_, size);
  }

 private:
  detail::State* state_ = nullptr;
  svod_value id_ = 0;
};

/// A value, a number, or nothing where an op can do without.
class Operand {
 public:
  Operand() = default;
  Operand(Value value) : value_(value) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Operand(Number number)
      : isNumber_(true), isWhole_(std::is_integral_v<Number>), whole_(static_cast<std::int64_t>(number)),
        number_(static_cast<double>(number)) {}
  detail::State* state() const { return value_.state(); }
  svod_value in(detail::State& state) const {
    if (!isNumber_) return value_.get();
    svod_value id = 0;
    state.call([&](Error* error) {
      return isWhole_ ? svod_graph_integer(state.graph.get(), whole_, &id, error)
                      : svod_graph_number(state.graph.get(), number_, &id, error);
    });
    return id;
  }

 private:
  Value value_;
  bool isNumber_ = false, isWhole_ = false;
  std::int64_t whole_ = 0;
  double number_ = 0;
};

namespace detail {

/// One call of an op while its operands and attributes are collected.
class Call {
 public:
  Call(State* state, const char* name, std::initializer_list<Operand> operands)
      : Call(state, name, std::vector(operands)) {}
  Call(State* state, const char* name, std::vector<Operand> operands)
      : state_(state), name_(name), operands_(std::move(operands)) {
    for (const Operand& each : operands_)
      if (state_ == nullptr) state_ = each.state();
  }
  Call& operator()(const char* name, std::int64_t value) {
    return add(name, SVOD_ATTRIBUTE_INTEGER, SVOD_NONE, keep(value));
  }
  Call& operator()(const char* name, double value) { return add(name, SVOD_ATTRIBUTE_NUMBER, SVOD_NONE, keep(value)); }
  Call& operator()(const char* name, bool value) {
    return add(name, SVOD_ATTRIBUTE_FLAG, SVOD_NONE, keep(std::int64_t{value}));
  }
  Call& operator()(const char* name, const std::string& word) {
    return add(name, SVOD_ATTRIBUTE_TEXT, SVOD_NONE, word.c_str());
  }
  Call& operator()(const char* name, const Size& value) {
    return add(name, SVOD_ATTRIBUTE_SIZE, SVOD_NONE, keep(value.get()));
  }
  Call& operator()(const char* name, const Integers& values) {
    return add(name, SVOD_ATTRIBUTE_INTEGER, values.count(), values.values().data());
  }
  Call& operator()(const char* name, const Numbers& values) {
    return add(name, SVOD_ATTRIBUTE_NUMBER, values.count(), values.values().data());
  }
  Call& operator()(const char* name, const Sizes& values) {
    auto all = std::make_unique<std::vector<svod_size>>();
    for (const Size& each : values.values()) all->push_back(each.get());
    lists_.push_back(std::move(all));
    return add(name, SVOD_ATTRIBUTE_SIZE, values.count(), lists_.back()->data());
  }
  template <class T>
  Call& operator()(const char* name, const std::optional<T>& value) {
    return value ? (*this)(name, *value) : *this;
  }

  std::vector<Value> all() {
    constexpr std::size_t kRoom = 1024;
    std::vector<svod_value> ids(kRoom);
    std::size_t count = 0;
    if (!run(ids, count)) return {};
    std::vector<Value> values;
    for (std::size_t i = 0; i < count && i < kRoom; ++i) values.emplace_back(state_, ids[i]);
    return values;
  }
  Value one() {
    std::vector<svod_value> ids(1);
    std::size_t count = 0;
    return run(ids, count) ? Value(state_, ids[0]) : Value();
  }

 private:
  bool run(std::vector<svod_value>& results, std::size_t& count) {
    if (state_ == nullptr) return false;  // of values behind an error
    std::vector<svod_value> given;
    for (const Operand& each : operands_) given.push_back(each.in(*state_));
    return state_->call([&](Error* error) {
      return svod_graph_op(state_->graph.get(), name_, given.data(), given.size(), attributes_.data(),
                           attributes_.size(), results.data(), results.size(), &count, error);
    });
  }
  Call& add(const char* name, int kind, std::size_t count, const void* values) {
    attributes_.push_back({name, kind, count, values});
    return *this;
  }
  const void* keep(std::int64_t value) {
    lists_.push_back(std::make_unique<std::vector<svod_size>>(1, value));
    return lists_.back()->data();
  }
  const void* keep(double value) {
    numbers_.push_back(std::make_unique<double>(value));
    return numbers_.back().get();
  }

  State* state_;
  const char* name_;
  std::vector<Operand> operands_;
  std::vector<svod_attribute> attributes_;
  std::vector<std::unique_ptr<std::vector<svod_size>>> lists_;
  std::vector<std::unique_ptr<double>> numbers_;
};

}  // namespace detail

inline Value operator+(Value a, Operand b) { return detail::Call(nullptr, "add", {a, b}).one(); }
inline Value operator-(Value a, Operand b) { return detail::Call(nullptr, "sub", {a, b}).one(); }
inline Value operator*(Value a, Operand b) { return detail::Call(nullptr, "mul", {a, b}).one(); }
inline Value operator/(Value a, Operand b) { return detail::Call(nullptr, "div", {a, b}).one(); }
inline Value operator-(Value a) { return detail::Call(nullptr, "neg", {a}).one(); }

}  // namespace svod::compiler

#endif
