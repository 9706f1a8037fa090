// Random graphs of matrices that are split over devices, replicated, reduced on all of them and joined again: they
// equal the graph that computes the same in one place.
#include <catch2/catch.hpp>

#include "e2e/graph_text.h"
#include "e2e/seeds.h"
#include "emulated/emulated_device.h"

using namespace svod;

namespace {

enum class Layout { Whole, Rows, Columns, Replicated };  // Rows, Columns: split along that axis

/// Two texts of one computation on i32 matrices [n, 6] and [6, 6]: in one place, and in parts.
class Twins {
 public:
  Twins(uint64_t seed, size_t devices) : draw_(seed), devices_(devices) {
    add("x", true), add("z", true), add("w", false), add("v", false);
    for (int step = 0; step < 14; ++step) grow();
    for (Value& value : values_) finish(value);
  }

  std::string whole = "var n in [0, 9]\n", sharded = "var n in [0, 9]\n";

 private:
  struct Value {
    std::string name;
    bool isTall = true;  // [n, 6], else [6, 6]
    Layout layout = Layout::Whole;
    bool isInput = false;
  };

  void add(const std::string& name, bool isTall) {
    for (std::string* text : {&whole, &sharded}) *text += "input " + name + ": i32[" + (isTall ? "n" : "6") + ", 6]\n";
    values_.push_back({name, isTall, Layout::Whole, true});
  }
  std::string fresh() { return "t" + std::to_string(count_++); }
  size_t below(size_t count) { return static_cast<size_t>(draw_.below(static_cast<int64_t>(count))); }
  std::string deviceName(size_t i) const { return std::string(1, static_cast<char>('a' + i)); }
  std::string devices() const {
    std::string out;
    for (size_t i = 0; i < devices_; ++i) out += (i ? ", " : "") + deviceName(i);
    return "devices=\"" + out + "\"";
  }
  std::string parts(const std::string& of) const {
    std::string out;
    for (size_t i = 0; i < devices_; ++i) out += (i ? ", " : "") + of + "p" + std::to_string(i);
    return out;
  }

  /// One line, or one for each part, in which a # behind a name stands for the part.
  void line(Layout layout, const std::string& text) {
    for (size_t i = 0; i < (layout == Layout::Whole ? 1 : devices_); ++i) {
      for (char c : text) {
        if (c != '#')
          sharded += c;
        else if (layout != Layout::Whole)
          sharded += "p" + std::to_string(i);
      }
      sharded += "\n";
    }
  }
  Value& computed(const std::string& expr, bool isTall, Layout layout) {
    Value value{fresh(), isTall, layout};
    std::string plain = expr;
    std::erase(plain, '#');
    whole += value.name + " = " + plain + "\n";
    line(layout, value.name + "# = " + expr);
    return values_.emplace_back(value);
  }

  /// The value in this layout, under a name of its own where it has another one.
  Value in(Value value, Layout layout) {
    if (value.layout == layout) return value;
    if (value.layout != Layout::Whole) value = gathered(value);
    if (layout == Layout::Whole) return value;
    const std::string name = fresh();
    const std::string op = layout == Layout::Replicated
                               ? "replicate(" + value.name
                               : "shard(" + value.name + ", axis=" + (layout == Layout::Rows ? "0" : "1");
    sharded += parts(name) + " = " + op + ", " + devices() + ")\n";
    whole += name + " = " + value.name + " + 0\n";
    return {name, value.isTall, layout};
  }
  Value gathered(const Value& value) {
    const std::string name = fresh(), device = below(2) == 0 ? "cpu" : deviceName(below(devices_));
    if (value.layout == Layout::Replicated)
      sharded += name + " = copy(" + value.name + "p" + std::to_string(below(devices_)) + ", device=" + device + ")\n";
    else
      sharded += name + " = unshard(" + parts(value.name) + ", axis=" + (value.layout == Layout::Rows ? "0" : "1") +
                 ", device=" + device + ")\n";
    whole += name + " = " + value.name + " + 0\n";
    return {name, value.isTall, Layout::Whole};
  }

  /// The value minus what it sums up to along an axis, which on a split axis all parts have to tell each other.
  void centre(const Value& value) {
    const int axis = static_cast<int>(below(2));
    const bool isCut = value.layout == (axis == 0 ? Layout::Rows : Layout::Columns);
    const std::string sum = fresh(), total = isCut ? fresh() : sum;
    const std::string sums = " = sum(" + value.name + "#, axes=[" + std::to_string(axis) + "], keepdims=true)";
    line(value.layout, sum + "#" + sums);
    if (isCut) sharded += parts(total) + " = all_reduce(" + parts(sum) + ", " + devices() + ")\n";
    std::string plain = sums;
    std::erase(plain, '#');
    whole += total + plain + "\n";
    computed(value.name + "# - " + total + "#", value.isTall, value.layout);
  }

  void multiply(const Value& value, const Value& weight) {
    const size_t way = below(4);
    if (way == 3) {  // along the terms
      const Value a = in(value, Layout::Columns), b = in(weight, Layout::Rows);
      const std::string product = fresh(), total = fresh();
      line(Layout::Rows, product + "# = " + a.name + "# @ " + b.name + "#");
      sharded += parts(total) + " = all_reduce(" + parts(product) + ", " + devices() + ")\n";
      whole += total + " = " + a.name + " @ " + b.name + "\n";
      values_.push_back({total, value.isTall, Layout::Replicated});
      return;
    }
    const Layout left[] = {Layout::Rows, Layout::Replicated, Layout::Whole},
                 right[] = {Layout::Replicated, Layout::Columns, Layout::Whole},
                 result[] = {Layout::Rows, Layout::Columns, Layout::Whole};
    const Value a = in(value, left[way]), b = in(weight, right[way]);
    computed(a.name + "# @ " + b.name + "#", value.isTall, result[way]);
  }

  void grow() {
    const Value value = values_[below(values_.size())], other = values_[below(values_.size())];
    const Layout layouts[] = {Layout::Whole, Layout::Rows, Layout::Columns, Layout::Replicated};
    switch (below(5)) {
      case 0: computed(value.name + "# * 3 - 1", value.isTall, value.layout); break;
      case 1: centre(value); break;
      case 2: values_.push_back(in(value, layouts[below(4)])); break;
      case 3:
        if (value.isTall != other.isTall) return;
        computed(value.name + "# + " + in(other, value.layout).name + "#", value.isTall, value.layout);
        break;
      default:
        if (!other.isTall) multiply(value, other);
    }
  }

  void finish(const Value& value) {
    if (value.isInput) return;
    const Value all = in(value, Layout::Whole);
    const std::string name = "y" + std::to_string(outputs_++);
    whole += "output " + name + " = " + all.name + " + 0\n";
    sharded += "output " + name + " = copy(" + all.name + ", device=cpu) + 0\n";
  }

  Draw draw_;
  size_t devices_;
  std::vector<Value> values_;
  int count_ = 0, outputs_ = 0;
};

std::unique_ptr<SeparateDevice> deviceFor(const DeviceDesc& device, uint32_t seed, uint32_t mostMicroseconds) {
  if (device.kind == DeviceKind::Cpu) return std::make_unique<SeparateDevice>(seed, mostMicroseconds);
  return std::make_unique<EmulatedDevice>(seed, mostMicroseconds);
}

std::string check(uint64_t seed) {
  const size_t devices = 2 + seed % 2;
  const Twins twins(seed, devices);
  LoadOptions options;
  for (size_t i = 0; i < devices; ++i) options.devices.emplace_back(1, static_cast<char>('a' + i));
  const Model one = modelOf(twins.whole);
  Model many = modelOf(twins.sharded, options);
  const ModelBindings bindings = bindingsOf(one, static_cast<int64_t>(seed % 10));
  auto expected = interpret(one, bindings);
  if (!expected) return toText(expected.error());
  RunOptions run;
  run.execute.deviceSeed = static_cast<uint32_t>(seed);
  run.execute.threads = 1 + seed % 3;
  run.execute.orderSeed = seed % 4;
  run.execute.makeDevice = deviceFor;
  const Target* emulated = *targetByName("emulated");
  if (seed % 4 == 3) run.devices = {{"b", emulated, *emulated->machine("", "")}};
  auto actual = runPlan(many, bindings, run);
  if (!actual) return toText(actual.error()) + "\n" + twins.sharded;
  for (size_t i = 0; i < one.ports.size(); ++i)
    if (isResult(one.ports[i]) && difference((*expected)[i], (*actual)[i], 0) != "")
      return one.ports[i].name + ": " + difference((*expected)[i], (*actual)[i], 0) + "\n" + twins.sharded;
  return "";
}

}  // namespace

TEST_CASE("random graphs in parts on two and three devices equal one place") { forSeeds(60, {}, check); }
