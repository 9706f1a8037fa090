#include "random_model.h"

#include "ir/evaluate.h"

namespace svod {

namespace {

using Names = std::vector<std::string>;

constexpr int64_t kMostElements = 3000;

int rankOf(const std::vector<int64_t>& dims) { return static_cast<int>(dims.size()); }

const ModelPort* portOf(const Model& model, PortKind kind, const std::string& name) {
  for (const ModelPort& p : model.ports)
    if (p.kind == kind && p.name == name) return &p;
  return nullptr;
}

}  // namespace

const NamedSizes& RandomModel::usualSizes() {
  static const NamedSizes sizes{{"n", 3}, {"m", 2}, {"k", 5}};
  return sizes;
}

std::vector<int64_t> sizesOf(const std::vector<std::string>& dims, const NamedSizes& sizes) {
  std::vector<int64_t> all;
  for (const std::string& d : dims) {
    const auto named = sizes.find(d);
    all.push_back(named == sizes.end() ? std::stoll(d) : named->second);
  }
  return all;
}

RandomModel::RandomModel(uint64_t seed) : maker(18), random_(seed * 0x9e3779b97f4a7c15u + 1) {
  addInputs();
  const int steps = 2 + below(6);
  for (int made = 0, tries = 0; made < steps && tries < 60; ++tries) made += step() ? 1 : 0;
  maker.model.mutable_graph()->clear_output();
  for (size_t i = values_.size() - std::min<size_t>(3, values_.size()); i < values_.size(); ++i)
    maker.output(values_[i].name);
}

void RandomModel::addInputs() {
  const Names kDims = {"n", "n", "m", "k", "1", "2", "3", "4"};
  const int count = 1 + below(3);
  for (int i = 0; i < count; ++i) {
    Names dims;
    const int rank = 1 + below(4);
    for (int d = 0; d < rank; ++d) dims.push_back(kDims[static_cast<size_t>(below(8))]);
    if (i == 0) dims[static_cast<size_t>(below(rank))] = "n";
    inputs.push_back(dims);
    maker.input("x" + std::to_string(i), dims);
    values_.push_back({"x" + std::to_string(i), sizesOf(dims, usualSizes())});
  }
}

LoadOptions RandomModel::fixedTo(const NamedSizes& sizes) const {
  LoadOptions options;
  for (const auto& [name, size] : sizes)
    if (std::ranges::any_of(inputs, [&](const Names& dims) { return std::ranges::count(dims, name) > 0; }))
      options.variables.push_back({name, {}, {}, size});
  return options;
}

// --- Parts of nodes

std::string RandomModel::numbers(const std::vector<int64_t>& values) {
  const std::string name = fresh();
  maker.ints(name, {static_cast<int64_t>(values.size())}, values);
  return name;
}

std::string RandomModel::scalar(int64_t value) {
  const std::string name = fresh();
  maker.ints(name, {}, {value});
  return name;
}

std::string RandomModel::sizeOf(const Value& x, int axis, bool isVector) {
  const std::string shape = fresh(), size = fresh();
  maker.node("Shape", {x.name}, {shape});
  maker.node("Gather", {shape, isVector ? numbers({axis}) : scalar(axis)}, {size});
  return size;
}

std::string RandomModel::unary(const std::string& op, const Names& operands) {
  const std::string result = fresh();
  maker.node(op, operands, {result});
  return result;
}

// --- Nodes

bool RandomModel::step() {
  const proto::ModelProto before = maker.model;
  const int count = count_;
  const Value x = any(), y = any();
  const std::string name = build(x, y);
  maker.model.mutable_graph()->clear_output();
  maker.output(name);
  const OnnxImport import = maker.import(fixedTo(usualSizes()));
  const ModelPort* port = import.model ? portOf(*import.model, PortKind::Output, name) : nullptr;
  Value made{name, {}};
  int64_t elements = 1;
  if (port)
    for (UOp d : port->buffer.shape()) {
      made.dims.push_back(d.isConst() ? d.constInt() : 0);
      elements *= made.dims.back();
    }
  const bool isGood = port && port->buffer.dtype() == DType::F32 && elements > 0 && elements <= kMostElements &&
                      made.dims.size() <= 5 && !portOf(*import.model, PortKind::Output, name + ".length");
  if (isGood) values_.push_back(made);
  if (!isGood) maker.model = before, count_ = count;
  return isGood;
}

std::string RandomModel::build(const Value& x, const Value& y) {
  const char* const kBinary[] = {"Add", "Mul", "Max", "Sub"};
  switch (below(8)) {
    case 0:
    case 1: return movement(x, y);
    case 2:
    case 3: return shaped(x, y);
    case 4:
    case 5: return folded(x, y);
    case 6: return branched(x, y);
    default: {
      if (below(4) > 0) return unary(kBinary[below(4)], {x.name, y.name});
      return unary("Where", {unary("Greater", {x.name, y.name}), x.name, y.name});
    }
  }
}

std::string RandomModel::movement(const Value& x, const Value& y) {
  const int axis = axisOf(x), rank = rankOf(x.dims);
  if (rank == 0) return unary("Neg", {x.name});
  const std::string result = fresh();
  auto with = [&](const std::string& op, const Names& operands, const std::string& attribute, int64_t value) {
    addAttribute(maker.node(op, operands, {result}), attribute, value);
    return result;
  };
  switch (below(11)) {
    case 0:
    case 1: return unary("Squeeze", {x.name});
    case 2: return unary("Squeeze", {x.name, numbers({axis})});
    case 3: return unary("Unsqueeze", {x.name, numbers({below(rank + 1)})});
    case 4: {
      std::vector<int64_t> order(static_cast<size_t>(rank));
      for (int i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = i;
      std::shuffle(order.begin(), order.end(), random_);
      addAttribute(maker.node("Transpose", {x.name}, {result}), "perm", order);
      return result;
    }
    case 5: {
      const std::string end = below(2) ? sizeOf(y, axisOf(y), true) : numbers({below(4) - 1});
      return unary("Slice", {x.name, numbers({below(3) - 1}), end, numbers({axis})});
    }
    case 6: return with("Gather", {x.name, below(2) ? scalar(0) : numbers({0, -1})}, "axis", axis);
    case 7: return with("Concat", {x.name, y.name}, "axis", axis);
    case 8: return with("Flatten", {x.name}, "axis", axis);
    case 9: {
      std::vector<int64_t> pads(static_cast<size_t>(2 * rank));
      pads[static_cast<size_t>(axis)] = below(3), pads[static_cast<size_t>(rank + axis)] = below(3) - 1;
      return unary("Pad", {x.name, numbers(pads)});
    }
    default: {
      std::vector<int64_t> repeats(static_cast<size_t>(rank), 1);
      repeats[static_cast<size_t>(axis)] = 1 + below(2);
      return unary("Tile", {x.name, numbers(repeats)});
    }
  }
}

std::string RandomModel::shaped(const Value& x, const Value& y) {
  const int axis = axisOf(x);
  auto concat = [&](const Names& parts) {
    const std::string result = fresh();
    addAttribute(maker.node("Concat", parts, {result}), "axis", int64_t{0});
    return result;
  };
  auto range = [&](const std::string& limit) {
    const std::string numbers = unary("Range", {scalar(0), limit, scalar(1)}), result = fresh();
    addAttribute(maker.node("Cast", {numbers}, {result}), "to", int64_t{1});
    return result;
  };
  switch (below(9)) {
    case 0: return unary("Reshape", {x.name, numbers({-1})});
    case 1: return unary("Reshape", {x.name, numbers({0, -1})});
    case 2: return unary("Reshape", {x.name, concat({numbers({-1}), sizeOf(x, axis, true)})});
    case 3: return unary("Reshape", {x.name, concat({sizeOf(x, axis, true), numbers({1, -1})})});
    case 4: return unary("Expand", {x.name, unary("Shape", {y.name})});
    case 5: return unary("Expand", {x.name, concat({sizeOf(y, axisOf(y), true), sizeOf(x, axis, true)})});
    case 6: return unary("Add", {x.name, range(sizeOf(x, axis, false))});
    case 7: return range(unary("Add", {sizeOf(x, axis, false), sizeOf(y, axisOf(y), false)}));
    default: {
      const std::string shape = unary("Shape", {x.name}), other = unary("Shape", {y.name});
      const std::string larger = unary("Where", {unary("Equal", {other, numbers({1})}), shape, other});
      return unary("Expand", {x.name, larger});
    }
  }
}

std::string RandomModel::folded(const Value& x, const Value& y) {
  const int axis = axisOf(x), rank = rankOf(x.dims);
  const char* const kFolds[] = {"ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2"};
  const std::string result = fresh();
  switch (below(7)) {
    case 0:
    case 1: {
      const int fold = below(4);
      proto::NodeProto* node = nullptr;
      if (below(4) == 0) {
        node = &maker.node(kFolds[fold], {x.name}, {result});
      } else {
        const std::string axes = numbers({axis});
        node = &maker.node(kFolds[fold], {x.name, axes}, {result});
      }
      addAttribute(*node, "keepdims", int64_t{below(2)});
      return result;
    }
    case 2: addAttribute(maker.node("Softmax", {x.name}, {result}), "axis", int64_t{axis}); return result;
    case 3: return unary("CumSum", {x.name, scalar(axis)});
    case 4: return unary("MatMul", {x.name, y.name});
    case 5: {
      std::vector<int64_t> order;
      for (int i = 0; i < rank; ++i) order.push_back(i);
      if (rank >= 2) std::swap(order[static_cast<size_t>(rank - 1)], order[static_cast<size_t>(rank - 2)]);
      const std::string turned = fresh();
      addAttribute(maker.node("Transpose", {x.name}, {turned}), "perm", order);
      return unary("MatMul", {x.name, turned});
    }
    default: {
      const std::string weight = fresh();
      const int64_t channels = rank > 1 ? x.dims[1] : 1;
      maker.floats(weight, {2, channels, 2}, std::vector<float>(static_cast<size_t>(4 * channels), 0.5F));
      addAttribute(maker.node("Conv", {x.name, weight}, {result}), "pads", std::vector<int64_t>{1, below(2)});
      return result;
    }
  }
}

std::string RandomModel::branched(const Value& x, const Value& y) {
  const std::string size = sizeOf(x, axisOf(x), false);
  const std::string other = below(3) == 0 ? sizeOf(y, axisOf(y), false) : scalar(1 + below(3));
  const char* const kCompare[] = {"Equal", "Less", "Greater", "Equal"};
  std::string condition = unary(kCompare[below(4)], {size, other});
  if (below(4) == 0) condition = unary("Not", {condition});
  if (below(5) == 0) {
    proto::NodeProto& sum = maker.node("ReduceSum", {x.name}, {fresh()});
    addAttribute(sum, "keepdims", int64_t{0});
    const std::string limit = fresh();
    maker.floats(limit, {}, {0.5F});
    condition = unary("Greater", {std::string(sum.output(0)), limit});
  }
  const std::string result = fresh();
  proto::NodeProto node;
  node.set_op_type("If");
  node.add_input(condition);
  node.add_output(result);
  branch(node, "then_branch", x, y);
  branch(node, "else_branch", x, y);
  *maker.model.mutable_graph()->add_node() = node;
  return result;
}

void RandomModel::branch(proto::NodeProto& node, const std::string& name, const Value& x, const Value& y) {
  const std::string result = fresh(), axes = numbers({axisOf(x)}), flat = numbers({-1, 2});
  proto::GraphProto& graph = addGraph(node, name, {}, {result});
  auto add = [&](const std::string& op, const Names& operands) {
    addNode(*graph.mutable_node(), op, operands, {result});
  };
  switch (below(6)) {
    case 0: return add("Squeeze", {x.name, axes});
    case 1: return add("ReduceSum", {x.name, axes});
    case 2: return add("Add", {x.name, y.name});
    case 3: return add("Neg", {x.name});
    case 4: return add("Reshape", {x.name, flat});
    default: return add("Identity", {x.name});
  }
}

// --- Runs

Result<std::map<std::string, HostTensor>> outputsAt(const OnnxImport& import, const RandomModel& random,
                                                    const NamedSizes& sizes) {
  const Model& model = *import.model;
  ModelBindings bindings;
  for (UOp v : model.variables) {
    const std::string name(v.argAs<VarArg>().name);
    const auto size = sizes.find(name);
    if (size == sizes.end()) continue;
    if (size->second < v.bounds().min || size->second > v.bounds().max)
      return fail(Diag::VariableBounds, name + " is outside of its bounds", "");
    bindings.variables[name] = size->second;
  }
  for (const ModelPort& port : model.ports) {
    HostTensor& x = bindings.ports.emplace_back();
    if (port.kind != PortKind::Input) continue;
    const size_t number = std::stoul(port.name.substr(1));
    x = HostTensor::zeros(DType::F32, sizesOf(random.inputs[number], sizes));
    for (int64_t i = 0; i < x.numel(); ++i)
      x.set(i, Scalar::ofFloat(DType::F32, static_cast<double>((i * 5 + static_cast<int64_t>(number) * 3) % 7) - 3));
  }
  SVOD_TRY(std::vector<HostTensor> contents, interpret(model, bindings));
  std::map<std::string, HostTensor> outputs;
  for (size_t i = 0; i < contents.size(); ++i)
    if (model.ports[i].kind == PortKind::Output) outputs[model.ports[i].name] = std::move(contents[i]);
  return outputs;
}

}  // namespace svod
