#include "e2e/free_sizes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/random_graph.h"
#include "ir/evaluate.h"

namespace svod {

namespace {

constexpr size_t kMostPoints = 9;

/// Sizes at which kernels differ, in these bounds.
std::vector<int64_t> sizesOf(const VarArg& variable) {
  std::set<int64_t> sizes{variable.min, variable.max, variable.likely, variable.min + 1, variable.max - 1};
  for (int64_t tile : {8, 16, 32, 48, 64, 128})
    for (int64_t size : {tile - 1, tile, tile + 1}) sizes.insert(size);
  for (int64_t prime : {2, 3, 5, 13, 29, 61, 97, 211, 499}) sizes.insert(prime);
  std::erase_if(sizes, [&](int64_t size) { return size < variable.min || size > variable.max; });
  return {sizes.begin(), sizes.end()};
}

/// The sizes where a case of a launch begins or ends, by variable.
std::map<std::string, std::set<int64_t>> endsOfCases(const Plan& plan) {
  std::map<std::string, std::set<int64_t>> ends;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      for (const LaunchCase& one : launch->cases)
        for (const SizeRange& range : one.when)
          ends[toText(range.size, variableNames(plan))].insert({range.min, range.max, range.max + 1});
  return ends;
}

}  // namespace

std::vector<VariableValues> pointsOf(const Model& model, const Plan& plan, uint64_t seed) {
  Draw draw(seed);
  const auto ends = endsOfCases(plan);
  std::vector<VariableValues> points(3);
  for (UOp v : model.variables) {
    const auto& known = v.argAs<VarArg>();
    const std::string name(known.name);
    points[0][name] = known.min, points[1][name] = known.max, points[2][name] = known.likely;
  }
  while (points.size() < kMostPoints && !model.variables.empty()) {
    VariableValues& point = points.emplace_back(points[static_cast<size_t>(draw.below(3))]);
    for (UOp v : model.variables) {
      const auto& known = v.argAs<VarArg>();
      const std::vector<int64_t> sizes = sizesOf(known);
      int64_t size = draw.of(sizes);
      if (auto found = ends.find(std::string(known.name)); found != ends.end() && draw.chance(60)) {
        const std::vector<int64_t> edges(found->second.begin(), found->second.end());
        size = std::clamp(draw.of(edges), known.min, known.max);
      }
      if (draw.chance(75)) point[std::string(known.name)] = size;
    }
  }
  return points;
}

ModelBindings bindingsAt(const Model& model, const VariableValues& point, uint64_t seed, bool isSpecial) {
  ModelBindings bindings;
  bindings.variables = point;
  for (const ModelPort& port : model.ports) {
    HostTensor& t = bindings.ports.emplace_back();
    if (port.kind != PortKind::Input) continue;
    std::vector<int64_t> dims;
    for (UOp d : port.buffer.shape())
      dims.push_back(evaluate(d, [&](UOp leaf) -> std::optional<Scalar> {
                       return Scalar::ofInt(leaf.dtype(), point.at(std::string(leaf.argAs<VarArg>().name)));
                     })->asInt());
    t = randomTensor(port.buffer.dtype(), dims, ++seed, isSpecial);
  }
  return bindings;
}

/// The plan as it is; without cases; and with each case of a launch in front of the others.
std::vector<PlanImage> forced(const PlanImage& image) {
  std::vector<PlanImage> images{image};
  size_t most = 0;
  for (const Step& step : image.plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action)) most = std::max(most, launch->cases.size());
  for (size_t i = 0; i < most; ++i) {
    PlanImage& other = images.emplace_back(image);
    for (StepId id = 0; id < other.plan.steps.size(); ++id)
      if (auto* launch = std::get_if<Launch>(&other.plan.steps[id].action)) {
        std::vector<LaunchCase>& cases = launch->cases;
        if (i == 0) cases.clear();
        if (i > 0 && i < cases.size()) std::rotate(cases.begin(), cases.begin() + static_cast<int64_t>(i), cases.end());
      }
  }
  return images;
}

void fillWeights(Model& model, uint64_t seed) {
  Draw draw(seed);
  for (ModelPort& port : model.ports) {
    if (port.kind != PortKind::Weight) continue;
    const DType d = port.buffer.dtype();
    std::vector<int64_t> dims;
    for (UOp size : port.buffer.shape()) dims.push_back(size.bounds().max);
    HostTensor t = HostTensor::zeros(d, dims);
    for (int64_t i = 0; i < t.numel(); ++i)
      t.set(i, isFloat(d) ? Scalar::ofFloat(d, static_cast<double>(draw.between(-9, 9)) / 16)
                          : Scalar::ofInt(d, draw.between(-7, 8)));
    auto owner = std::make_shared<const std::vector<std::byte>>(t.toMemory());
    port.data = {owner->data(), owner->size(), owner};
  }
}

}  // namespace svod
