#include "session.h"

#include <algorithm>
#include <cstring>

#include "c_call.h"
#include "random_inputs.h"
#include "support/packed.h"
#include "support/suggest.h"

namespace svod {

namespace {

/// What a plan takes is fixed when it is compiled.
Error withNextStep(Error error) {
  if (!error->help.empty()) return error;
  return std::move(error).withHelp(
      "svodc inspect PLAN shows the inputs, sizes and bounds it was compiled for; svodc compile --var N=MIN:MAX makes "
      "a plan for others");
}

constexpr const char* kPlurals[] = {"inputs", "outputs", "states", "variables"};

}  // namespace

std::vector<svod_device_option> deviceOptions(const RunOptions& options) {
  std::vector<svod_device_option> list;
  if (!options.cudaDriver.empty()) list.push_back({nullptr, "driver", options.cudaDriver.c_str()});
  if (!options.openclLoader.empty()) list.push_back({nullptr, "loader", options.openclLoader.c_str()});
  if (!options.webgpuLibrary.empty()) list.push_back({nullptr, "library", options.webgpuLibrary.c_str()});
  if (options.noJit) list.push_back({nullptr, "jit", "off"});
  if (options.noGraphs) list.push_back({nullptr, "graphs", "off"});
  if (options.syncSteps) list.push_back({nullptr, "wait", "on"});
  for (const NameValue& device : options.devices)
    list.push_back({device.first.c_str(), "number", device.second.c_str()});
  return list;
}

std::vector<std::string> Session::devices() const {
  std::vector<std::string> lines;
  while (const char* line = svod_instance_device_text(instance_.get(), lines.size())) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> Session::notes() const {
  std::vector<std::string> lines;
  while (const char* line = svod_instance_note(instance_.get(), lines.size())) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> Session::names(svod_kind kind) const {
  std::vector<std::string> out;
  svod_tensor tensor = {};
  svod_variable variable = {};
  if (kind == SVOD_VARIABLE)
    for (size_t i = 0; svod_plan_variable(plan_.get(), i, &variable) == 0; i++) out.push_back(variable.name);
  else
    for (size_t i = 0; svod_plan_tensor(plan_.get(), kind, i, &tensor) == 0; i++) out.push_back(tensor.name);
  return out;
}

Result<size_t> Session::find(svod_kind kind, const std::string& name) const {
  const size_t index = svod_plan_find(plan_.get(), kind, name.c_str());
  if (index != SVOD_NONE) return index;
  const std::string plural = kPlurals[kind];
  const std::vector<std::string> known = names(kind);
  std::string list;
  for (const std::string& other : known) list += (list.empty() ? "the " + plural + " are " : ", ") + other;
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return fail(Diag::UnknownPort, "the plan has no " + plural.substr(0, plural.size() - 1) + " '" + name + "'",
              didYouMean(name, candidates, list.empty() ? "it has no " + plural + " at all" : list));
}

/// Every name is one of the plan's, and every input of the plan has a file.
Status Session::checkNames(const RunOptions& options) const {
  for (const NameValue& input : options.inputs) SVOD_CHECK(find(SVOD_INPUT, input.first));
  for (const NameValue& output : options.outputs) SVOD_CHECK(find(SVOD_OUTPUT, output.first));
  for (const auto& variable : options.variables) SVOD_CHECK(find(SVOD_VARIABLE, variable.first));
  svod_tensor tensor = {};
  const bool hasStates = svod_plan_tensor(plan_.get(), SVOD_STATE, 0, &tensor) == 0;
  if (!hasStates && !(options.saveState.empty() && options.loadState.empty()))
    return fail(Diag::Usage, "the plan has no states: --load-state and --save-state are for plans with some",
                "leave them out; --output-dir DIR writes the outputs");
  std::string missing, help;
  for (size_t i = 0; svod_plan_tensor(plan_.get(), SVOD_INPUT, i, &tensor) == 0; i++) {
    const std::string name = tensor.name;
    const bool given = std::any_of(options.inputs.begin(), options.inputs.end(),
                                   [&](const NameValue& input) { return input.first == name; });
    if (given || options.random) continue;
    std::string type = std::string(tensor.dtype) + "[";
    for (size_t axis = 0; axis < tensor.rank; axis++)
      type += (axis > 0 ? ", " : "") + std::string(tensor.shape_texts[axis]);
    missing += (missing.empty() ? "" : ", ") + ("'" + name + "', " + type + "]");
    help += (help.empty() ? "" : " ") + ("--input " + name + "=FILE.npy");
  }
  if (missing.empty()) return {};
  return fail(Diag::MissingInput, "there is no file for input " + missing,
              "add " + help + ", or --random to run with inputs that are drawn");
}

Result<Session> Session::open(const RunOptions& options) {
  Session session;
  svod_load_options load = {};
  load.verify_weights = options.verifyWeights ? 1 : options.trustWeights ? -1 : 0;
  load.cpu = options.cpu.empty() ? nullptr : options.cpu.c_str();
  svod_plan* plan = nullptr;
  SVOD_CHECK(checked([&](svod_error* error) { return svod_plan_load(options.plan.c_str(), &load, &plan, error); }));
  session.plan_.reset(plan);
  SVOD_CHECK(session.checkNames(options));
  if (options.threads != 1) {
    session.pool_.reset(svod_pool_create(static_cast<size_t>(options.threads)));
    if (!session.pool_) return fail(Diag::DeviceFailure, "cannot start the worker threads", "ask for fewer --threads");
  }
  svod_instance_options make = {};
  make.pool = session.pool_.get();
  make.profile = options.profile || options.json || !options.trace.empty();
  session.traceEvents_ = options.trace.empty() ? (make.profile != 0 ? size_t{1} << 12 : 0) : size_t{1} << 16;
  make.trace_events = session.traceEvents_;
  const std::vector<svod_device_option> forDevices = deviceOptions(options);
  make.device_options = forDevices.data();
  make.device_option_count = forDevices.size();
  svod_instance* instance = nullptr;
  SVOD_CHECK(checked([&](svod_error* error) { return svod_instance_create(plan, &make, &instance, error); }));
  session.instance_.reset(instance);
  if (!options.loadState.empty()) SVOD_CHECK(loadStates(options.loadState, plan, instance));
  SVOD_CHECK(session.bindInputs(options));
  if (options.random) SVOD_CHECK(session.drawInputs(options));
  SVOD_CHECK(session.bindOutputs());
  return session;
}

Status Session::bindInputs(const RunOptions& options) {
  for (const auto& [name, value] : options.variables) {
    SVOD_TRY(const size_t index, find(SVOD_VARIABLE, name));
    const int64_t number = value;
    Status set = checked([&](svod_error* error) { return svod_set_variable(instance_.get(), index, number, error); });
    if (!set) return fail(withNextStep(std::move(set.error())));
  }
  for (const auto& [name, file] : options.inputs) {
    SVOD_TRY(const size_t index, find(SVOD_INPUT, name));
    svod_tensor tensor = {};
    svod_plan_tensor(plan_.get(), SVOD_INPUT, index, &tensor);
    SVOD_TRY(InputArray array, readInput(file, *elementTypeFromName(tensor.dtype)));
    if (Status bound = bind(index, std::move(array)); !bound)
      return fail(std::move(bound.error()).withNote("it was read from '" + file + "'"));
  }
  return {};
}

Status Session::bind(size_t input, InputArray array) {
  const InputArray& kept = inputs_.emplace_back(std::move(array));
  const std::string dtype(nameOf(kept.dtype));
  Status bound = checked([&](svod_error* error) {
    return svod_bind_input(instance_.get(), input, dtype.c_str(), kept.shape.data(), kept.shape.size(),
                           kept.data.data(), error);
  });
  if (!bound) return fail(withNextStep(std::move(bound.error())));
  return {};
}

Status Session::drawInputs(const RunOptions& options) {
  const auto named = [](const auto& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const auto& item) { return item.first == name; });
  };
  std::vector<std::string> given;
  for (const auto& variable : options.variables) given.push_back(variable.first);
  SVOD_CHECK(chooseLeastSizes(plan_.get(), instance_.get(), given));
  svod_tensor tensor = {};
  for (size_t i = 0; svod_plan_tensor(plan_.get(), SVOD_INPUT, i, &tensor) == 0; i++) {
    if (named(options.inputs, tensor.name)) continue;
    InputArray array;
    array.dtype = *elementTypeFromName(tensor.dtype), array.shape.resize(tensor.rank);
    uint64_t bytes = 0;
    Status shaped = checked([&](svod_error* error) {
      return svod_get_shape(instance_.get(), SVOD_INPUT, i, array.shape.data(), &bytes, error);
    });
    if (!shaped) {
      if (!options.variables.empty()) return fail(withNextStep(std::move(shaped.error())));
      return fail(std::move(shaped.error()).withHelp("give sizes that fit each other, with --var NAME=VALUE"));
    }
    array.copied = randomElements(array.dtype, bytes, static_cast<uint64_t>(options.seed), i);
    array.data = array.copied;
    SVOD_CHECK(bind(i, std::move(array)));
  }
  return {};
}

Status Session::bindOutputs() {
  svod_tensor tensor = {};
  for (size_t i = 0; svod_plan_tensor(plan_.get(), SVOD_OUTPUT, i, &tensor) == 0; i++) {
    OutputArray output{tensor.name, *elementTypeFromName(tensor.dtype), std::vector<uint64_t>(tensor.rank), {}, {}};
    uint64_t bytes = 0;
    Status shaped = checked([&](svod_error* error) {
      return svod_get_shape(instance_.get(), SVOD_OUTPUT, i, output.shape.data(), &bytes, error);
    });
    if (!shaped) return fail(withNextStep(std::move(shaped.error())));
    output.data.resize(bytes);
    outputs_.push_back(std::move(output));
    SVOD_CHECK(checked([&](svod_error* error) {
      return svod_bind_output(instance_.get(), i, outputs_[i].data.data(), bytes, error);
    }));
  }
  return {};
}

Status Session::runOnce(uint64_t orderSeed) {
  const svod_execute_options options = {orderSeed};
  return checked([&](svod_error* error) { return svod_execute(instance_.get(), &options, error); });
}

namespace {

/// The first `shape[axis]` entries along every axis.
AlignedBytes cornerOf(const OutputArray& from, const std::vector<uint64_t>& shape) {
  const std::vector<std::byte> items = npyItems(from.dtype, from.shape, from.data);  // where elements share bytes
  const std::span<const std::byte> data = items.empty() ? std::span<const std::byte>(from.data) : items;
  const size_t size = byteSize(from.dtype), rank = shape.size();
  uint64_t count = 1;
  for (uint64_t dim : shape) count *= dim;
  AlignedBytes out;
  out.reserve(count * size);
  std::vector<uint64_t> at(rank);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t flat = 0;
    for (size_t axis = 0; axis < rank; axis++) flat = flat * from.shape[axis] + at[axis];
    out.insert(out.end(), &data[flat * size], &data[flat * size] + size);
    for (size_t axis = rank; axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
  if (!isPacked(from.dtype)) return out;
  const std::vector<std::byte> packed = packCodes(info(from.dtype).bits, out);
  return {packed.begin(), packed.end()};
}

}  // namespace

Status Session::cutOutputs() {
  for (OutputArray& length : outputs_) {
    const auto whole = std::find_if(outputs_.begin(), outputs_.end(), [&](const OutputArray& output) {
      return output.name + ".length" == length.name && length.dtype == ElementType::I64 &&
             length.shape == std::vector<uint64_t>{output.shape.size()};
    });
    if (whole == outputs_.end()) continue;
    std::vector<uint64_t> shape(whole->shape.size());
    std::memcpy(shape.data(), length.data.data(), length.data.size());
    for (size_t axis = 0; axis < shape.size(); axis++)
      if (shape[axis] > whole->shape[axis])
        return fail(Diag::DeviceFailure, "output '" + length.name + "' exceeds the shape of '" + whole->name + "'",
                    "the plan is inconsistent: compile it again");
    whole->data = cornerOf(*whole, shape);
    whole->shape = std::move(shape);
    length.lengthOf = static_cast<size_t>(whole - outputs_.begin());
  }
  return {};
}

svod_plan_info Session::info() const {
  svod_plan_info info = {};
  svod_plan_get_info(plan_.get(), &info);
  return info;
}

std::vector<std::pair<std::string, int64_t>> Session::variables() const {
  std::vector<std::pair<std::string, int64_t>> out;
  for (const std::string& name : names(SVOD_VARIABLE)) {
    int64_t value = 0;
    svod_get_variable(instance_.get(), out.size(), &value, nullptr);
    out.emplace_back(name, value);
  }
  return out;
}

}  // namespace svod
