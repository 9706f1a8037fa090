// What the command line says about the inputs of a model: values and bounds of variables, shapes, constants.
#include <algorithm>
#include <set>

#include "frontend/size_options.h"
#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/suggest.h"
#include "support/text.h"

namespace svod {

namespace {

std::vector<SizeForm> formsOf(const std::vector<int64_t>& shape) {
  std::vector<SizeForm> forms;
  for (int64_t d : shape) forms.push_back(SizeForm::number(d));
  return forms;
}

}  // namespace

void OnnxImporter::bind(const std::string& variable, int64_t value, const std::string& from) {
  auto [it, isNew] = bound_.try_emplace(variable, value);
  if (isNew) boundFrom_[variable] = from;
  if (!isNew && it->second != value)
    return record(Diag::BindMismatch,
                  "variable '" + variable + "' is bound to " + std::to_string(it->second) + " (" +
                      boundFrom_[variable] + ") and to " + std::to_string(value) + " (" + from + ")",
                  "bind it once, or to the same value");
  equate(SizeForm::variable(variable), SizeForm::number(value), from);
}

void OnnxImporter::equate(const SizeForm& left, const SizeForm& right, const std::string& from) {
  if (Status made = sizes_.equate(left, right, from); !made) record(std::move(made.error()));
}

void OnnxImporter::giveShape(const std::string& value, const std::vector<SizeForm>& shape) {
  shapes_[value] = shape;
  for (const SizeForm& dim : shape) sizes_.mention(dim);
}

// False, with an error, when the declared shape is another one.
bool OnnxImporter::bindShape(const proto::ValueInfoProto& input, const std::vector<SizeForm>& shape,
                             const std::string& from, const std::string& help) {
  const proto::TensorShapeProto& declared = input.type().tensor_type().shape();
  if (hasShape(input) && declared.dim_size() != static_cast<int>(shape.size())) {
    record(Diag::ShapeMismatch,
           from + ": input '" + input.name() + "' has rank " + std::to_string(declared.dim_size()) + ", not " +
               std::to_string(shape.size()),
           help);
    return false;
  }
  giveShape(input.name(), shape);
  bool fits = true;
  for (int i = 0; i < declared.dim_size(); ++i) {
    const SizeForm& wanted = shape[static_cast<size_t>(i)];
    const int64_t have = declared.dim(i).dim_value();
    if (isFreeDim(declared, i)) {
      const SizeForm form = dimNames_.formOf(input, i);
      if (form.asVariable() && wanted.isNumber())
        bind(*form.asVariable(), wanted.constant, from);
      else
        equate(form, wanted, from);
    } else if (wanted != SizeForm::number(have)) {
      record(fixedDimError(from, input.name(), i, std::to_string(have), wanted, help));
      fits = false;
    }
  }
  return fits;
}

// --- Variables

LoadOptions OnnxImporter::optionsNamedApart() const {
  LoadOptions options = options_;
  std::erase_if(options.variables, [&](const VariableOption& o) { return lengthBounds_.isNamed(o.name); });
  return dimNames_.apart(std::move(options));
}

namespace {

bool saysBatch(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name.find("batch") != name.npos;
}

/// The first names in quotes, and how many more there are.
std::string someOf(std::span<const std::string> names) {
  constexpr size_t kShown = 3;
  std::string list;
  for (const std::string& name : names.first(std::min(kShown, names.size())))
    list += (list.empty() ? "'" : ", '") + shortened(name) + "'";
  return names.size() <= kShown ? list : list + " and " + std::to_string(names.size() - kShown) + " more";
}

}  // namespace

// The dims that count samples, of which a run mostly has one: those whose name says so, and where none does, the first
// dim of every input that has it and is more than a list.
void OnnxImporter::findBatches(const proto::GraphProto& graph) {
  std::set<std::string> named, first, elsewhere;
  for (const proto::ValueInfoProto& input : graph.input())
    for (int i = 0; hasShape(input) && i < input.type().tensor_type().shape().dim_size(); ++i)
      for (const auto& [name, times] : dimNames_.formOf(input, i).factors) {
        if (saysBatch(name)) named.insert(name);
        (i == 0 && input.type().tensor_type().shape().dim_size() > 1 ? first : elsewhere).insert(name);
      }
  std::erase_if(first, [&](const std::string& name) { return elsewhere.contains(name); });
  batches_ = named.empty() ? std::move(first) : std::move(named);
}

void OnnxImporter::readVariables(const proto::GraphProto& graph) {
  std::vector<std::string> variables, growing;  // a state may be empty along the axis it grows along
  for (const proto::ValueInfoProto& input : graph.input())
    if (auto room = rooms_.find(input.name()); room != rooms_.end())
      for (size_t i = 0; i < room->second.grows.size(); ++i)
        if (room->second.grows[i])
          for (const auto& [name, times] : dimNames_.formOf(input, static_cast<int>(i)).factors)
            growing.push_back(name);
  for (const proto::ValueInfoProto& input : graph.input())
    for (int i = 0; hasShape(input) && i < input.type().tensor_type().shape().dim_size(); ++i) {
      if (!isFreeDim(input.type().tensor_type().shape(), i)) continue;
      for (const auto& [name, times] : dimNames_.formOf(input, i).factors) {
        const bool mayBeEmpty = std::ranges::find(growing, name) != growing.end();
        sizes_.declare(name, {mayBeEmpty ? 0 : UsualSizes::kAny.min, usualMost(name)}, SizeVariables::Source::Default);
        variables.push_back(name);
        inputOf_.try_emplace(name, &input);
      }
    }
  findBatches(graph);
  declareValues(graph, UsualSizes::kAny);
  auto unknown = [&](const std::string& name) {
    const std::vector<std::string_view> names(variables.begin(), variables.end());
    return Error(Diag::UnknownPort, "--var: the model has no variable '" + name + "'",
                 didYouMean(name, names, "variables are the symbolic dims of the inputs"));
  };
  applyVariableOptions(
      sizes_, optionsNamedApart(),
      {[&](Error e) { record(std::move(e)); }, unknown,
       [&](const std::string& name, int64_t value, const std::string& from) { bind(name, value, from); }});
}

// --- What earlier attempts of reading the model found out

bool OnnxImporter::canUnify(Dim a, Dim b, SizeWish wish) const {
  SizeVariables sizes = sizes_;
  SizeFindings findings;
  SizeDemand demand{a.node(), b.node(), true, {}};
  demand.mayBeChecked = wish.isLeftToRuns;
  demand.stretch = wish.stretch;
  return svod::learn(demand, sizes, findings);
}

bool OnnxImporter::learn(SizeFindings& findings) const {
  const bool isNew = learnSwept(findings) || learnDemands(findings);
  if (isNew) findings.rooms.clear();
  return isNew || learnRooms(findings);
}

bool OnnxImporter::learnSwept(SizeFindings& findings) const {
  bool isNew = false;
  for (const auto& [name, likely] : seen_.swept)
    if (sizes_.isKnown(name) && sizes_.isFree(name) && !sizes_.isGiven(name) && likely > findings.swept[name])
      findings.swept[name] = likely, isNew = true;
  const auto isSound = [](const auto& s) { return UsualSizes::inPieces(s.second) != s.second; };
  if (seen_.kept && !findings.kept && std::ranges::any_of(findings.swept, isSound))
    findings.kept = seen_.kept, isNew = true;
  return isNew;
}

bool OnnxImporter::learnDemands(SizeFindings& findings) const {
  SizeVariables sizes = sizes_;
  bool isNew = false;
  for (const SizeDemand& demand : demands_)
    if (!demand.isRoom) isNew |= svod::learn(demand, sizes, findings);
  return isNew;
}

bool OnnxImporter::learnRooms(SizeFindings& findings) const {
  SizeVariables sizes = sizes_;
  bool isNew = false;
  for (const SizeDemand& demand : demands_)
    if (demand.isRoom) isNew |= svod::learn(demand, sizes, findings);
  return isNew;
}

void OnnxImporter::applyFindings() {
  auto note = [&](std::string message, std::string help) {
    problems_.addNote({Diag::VariableBounds, std::move(message), std::move(help), {file_->path, 0, 0}});
  };
  for (const auto& [left, right, by] : findings_.equalities) {
    const auto made = sizes_.unify(left, right);
    if (!made) continue;
    const std::string form = toText(made->second);
    note("'" + shortened(made->first) + "' is taken for " + form + ": " + by + " needs it",
         optionText("--var", made->first, form) + " says so");
  }
  for (const auto& [name, found] : findings_.bounds) {
    Interval bounds = found.bounds;
    if (bounds.max == SizeFindings::kUsual) bounds.max = usualMost(name, bounds.min);
    if (auto room = findings_.rooms.find(name); room != findings_.rooms.end())
      bounds.max = std::clamp(room->second, bounds.min, bounds.max);
    if (!sizes_.suggest(name, bounds)) continue;
    note("'" + shortened(name) + "' is taken to be " + std::to_string(bounds.min) + " to " +
             std::to_string(bounds.max) + ": " + found.by + " needs it",
         "other bounds: " + optionText("--var", name, "LO:HI"));
  }
  for (const auto& [name, most] : findings_.rooms)
    if (const Interval bounds = sizes_.boundsOf(name); !findings_.bounds.contains(name))
      sizes_.suggest(name, {bounds.min, std::clamp(most, bounds.min, bounds.max)});
}

// The input that an option names; null and an error when there is none.
const proto::ValueInfoProto* OnnxImporter::inputFor(std::string_view flag, const proto::GraphProto& graph,
                                                    const std::string& name) {
  std::vector<std::string_view> inputs;
  std::string list;
  for (const proto::ValueInfoProto& input : graph.input()) {
    if (input.name() == name) return &input;
    inputs.push_back(input.name());
    list += (list.empty() ? "the inputs are '" : ", '") + input.name() + "'";
  }
  const std::string help = shortened(list, 300);
  const bool isWeight = std::ranges::any_of(graph.initializer(), [&](const auto& t) { return t.name() == name; });
  if (isWeight) {
    record(Diag::UnknownPort, std::string(flag) + ": '" + name + "' is an initializer, whose value the model holds",
           help.empty() ? "the model has no inputs" : help);
  } else {
    record(Diag::UnknownPort, std::string(flag) + ": the model has no input '" + name + "'",
           didYouMean(name, inputs, help));
  }
  return nullptr;
}

void OnnxImporter::readConstant(const proto::ValueInfoProto& input, const std::string& path) {
  const OnnxDType* row = findOnnxDType(input.type().tensor_type().elem_type());
  Result<std::vector<int64_t>> shape = WeightLoader::npyShape(path, row ? row->dtype : DType::Void);
  if (!shape) record(shape.error());
  const bool fits = shape && bindShape(input, formsOf(*shape), "--const " + input.name() + "=" + path,
                                       "save an array with the dims of the input");
  constantFiles_[input.name()] = fits ? path : "";
}

// Inputs with a value in the model are constants unless an option says that they stay inputs. Before version 4 of the
// format all initializers were inputs, so that this says nothing.
void OnnxImporter::readDefaults(const proto::GraphProto& graph) {
  constexpr int64_t kFirstWithConstants = 4;
  std::set<std::string_view> given;
  for (const proto::TensorProto& t : graph.initializer()) given.insert(t.name());
  for (const proto::SparseTensorProto& t : graph.sparse_initializer()) given.insert(t.values().name());
  const auto& kept = options_.inputDefaults;
  const bool keepsAll = std::ranges::find(kept, "*") != kept.end();
  for (const std::string& name : kept)
    if (name != "*" && inputFor("--input-default", graph, name) && !given.contains(name))
      record(Diag::UnknownPort, "--input-default: the model has no value for the input '" + shortened(name) + "'",
             "leave the flag out: it is an input as it is");
  std::vector<std::string> taken;
  for (const proto::ValueInfoProto& input : graph.input()) {
    if (!given.contains(input.name())) continue;
    if (keepsAll || std::ranges::find(kept, input.name()) != kept.end())
      keptInputs_.insert(input.name());
    else if (!std::ranges::any_of(options_.constants, [&](const auto& c) { return c.first == input.name(); }))
      taken.push_back(input.name());
  }
  if (taken.empty() || file_->model.ir_version() < kFirstWithConstants) return;
  problems_.addNote({Diag::UnknownPort,
                     (taken.size() == 1 ? "the input " : "the inputs ") + someOf(taken) +
                         " with a value in the model " + (taken.size() == 1 ? "is a constant" : "are constants"),
                     "to give another one in a run: --input-default " + shellWord(taken.front()) +
                         (taken.size() == 1 ? "" : ", or '*' for all of them"),
                     {file_->path, 0, 0}});
}

void OnnxImporter::readOptions(const proto::GraphProto& graph) {
  readDefaults(graph);
  dimNames_.read(graph, options_);
  readVariables(graph);
  const LoadOptions options = optionsNamedApart();
  for (const auto& [name, shape] : options.shapes)
    if (isHostValue(name))
      giveShape(name, shape);
    else if (const proto::ValueInfoProto* input = inputFor("--shape", graph, name))
      bindShape(*input, shape, "--shape " + name,
                "only dims that are a variable can be chosen: " + optionText("--shape", name, shapeText(*input)));
  for (const auto& [name, path] : options_.constants)
    if (const proto::ValueInfoProto* input = inputFor("--const", graph, name)) readConstant(*input, path);
  applyFindings();
  if (Status settled = sizes_.settle(UsualSizes::kAny); !settled) record(std::move(settled.error()));
}

// Free variables with bounds that nobody gave, those of equal bounds together.
std::vector<Error> OnnxImporter::notes() const {
  std::vector<Error> all = problems_.notes();
  std::vector<std::pair<Interval, std::vector<std::string>>> groups;
  for (const std::string& name : unbounded_) {
    const Interval bounds = sizes_.boundsOf(name);
    auto at = std::ranges::find(groups, bounds, &std::pair<Interval, std::vector<std::string>>::first);
    if (at == groups.end()) at = groups.insert(at, {bounds, {}});
    at->second.push_back(name);
  }
  for (const auto& [bounds, names] : groups) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "'" : ", '") + shortened(name) + "'";
    auto input = inputOf_.find(names.front());
    std::string help = "other bounds: " + optionText("--var", names.front(), "LO:HI") +
                       "; one size: " + optionText("--var", names.front(), "SIZE");
    if (input != inputOf_.end())
      help += ", or " + optionText("--shape", input->second->name(), shapeText(*input->second));
    all.push_back(printable({Diag::VariableBounds,
                             "the size of " + list + " may be " + std::to_string(bounds.min) + " to " +
                                 std::to_string(bounds.max) + " in a run",
                             std::move(help),
                             {file_->path, 0, 0}}));
  }
  return all;
}

Dim OnnxImporter::sizeOf(const SizeForm& form) {
  const SizeForm reduced = sizes_.reduced(form);
  Dim total = builder_.dim(reduced.constant);
  for (const auto& [name, times] : reduced.factors) total = total + freeVariable(name) * times;
  return total;
}

int64_t OnnxImporter::usualOf(const std::string& name, Interval bounds) const {
  if (batches_.contains(name) || (findings_.kept && findings_.kept->contains(name))) return 1;
  auto swept = findings_.swept.find(name);
  if (swept == findings_.swept.end()) return usualSize(bounds);
  const int64_t size = findings_.kept ? UsualSizes::inPieces(swept->second) : swept->second;
  return std::clamp(size, bounds.min, bounds.max);
}

Dim OnnxImporter::freeVariable(const std::string& name) {
  auto [it, isNew] = variables_.try_emplace(name);
  if (!isNew) return it->second;
  if (!sizes_.isGiven(name)) unbounded_.push_back(name);
  const Interval bounds = sizes_.boundsOf(name);
  nameCounts_[name] = 1;
  return it->second = builder_.variable(name, bounds.min, bounds.max, sizes_.likelyOf(name, usualOf(name, bounds)));
}

}  // namespace svod
