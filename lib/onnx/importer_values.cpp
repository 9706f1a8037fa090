// Elements of inputs that decide sizes, as variables: the element K of the input NAME is the size NAME.K. Attempts
// after the first one have them, where ops need such elements, or an option names them; what the model declares of its
// outputs then says what they are. Every run compares the input with the sizes that the plan was made for.
#include <algorithm>
#include <charconv>

#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/importer_text.h"
#include "support/text.h"

namespace svod {

namespace {

// Of how many elements an input may be; sizes are for no more than 32 axes, amounts in front of and behind them.
constexpr int64_t kMostValues = 64;

// Of a size that a run computes: a run costs what the greatest one does.
constexpr Interval kUsualLength{0, 512};

std::string sizeName(const std::string& input, int64_t element) { return input + "." + std::to_string(element); }

// How many elements an input has that can be sizes, or -1.
int64_t valueCount(const proto::ValueInfoProto& input) {
  if (!input.type().has_tensor_type() || !hasShape(input)) return -1;
  const OnnxDType* row = findOnnxDType(input.type().tensor_type().elem_type());
  if (!row || !isInt(row->dtype)) return -1;
  int64_t count = 1;
  for (const auto& d : input.type().tensor_type().shape().dim()) {
    if (!d.has_dim_value() || d.dim_value() < 0 || d.dim_value() > kMostValues) return -1;
    count *= d.dim_value();
    if (count > kMostValues) return -1;
  }
  return count;
}

}  // namespace

// Lowerings that could not do without the value of inputs ask for it here.
void OnnxImporter::askForValues(std::span<const std::string> inputs) {
  asked_.insert(asked_.end(), inputs.begin(), inputs.end());
}

// Not of elements of inputs: those are sizes of the plan where an option names them.
std::optional<Interval> OnnxImporter::usualElementBounds(const std::string& name) {
  const auto& inputs = file_->model.graph().input();
  const bool isOfInput =
      std::ranges::any_of(inputs, [&](const auto& input) { return name.starts_with(input.name() + "."); });
  if (isOfInput) return std::nullopt;
  wantsLengths_ = true;
  if (!findings_.boundsLengths) return std::nullopt;
  const std::string least = std::to_string(kUsualLength.min), most = std::to_string(kUsualLength.max);
  Error said(Diag::VariableBounds,
             "'" + shortened(name) + "' is taken to be " + least + " to " + most + ": " + nameOf(*body_, *node_) +
                 " takes it from a run",
             "other bounds: " + optionText("--var", name, "LO:HI") + "; a run costs what the greatest one does",
             {file_->path, 0, 0});
  said = printable(std::move(said));
  if (std::ranges::find(problems_.notes(), said->message, [](const Error& e) { return e->message; }) ==
      problems_.notes().end())
    problems_.addNote(said);
  return kUsualLength;
}

bool OnnxImporter::learnValues(SizeFindings& findings) const {
  bool isNew = false;
  for (const proto::ValueInfoProto& input : file_->model.graph().input())
    if (std::ranges::find(asked_, input.name()) != asked_.end() && valueCount(input) > 0 &&
        !constantFiles_.contains(input.name()) && !states_.contains(input.name()))
      isNew |= findings.values.insert(input.name()).second;
  return isNew;
}

// Options may name an element before an op asks for it.
void OnnxImporter::declareValues(const proto::GraphProto& graph, Interval bounds) {
  for (const proto::ValueInfoProto& input : graph.input()) {
    const int64_t count = valueCount(input);
    const std::string prefix = input.name() + ".";
    auto isElement = [&](const VariableOption& o) {
      if (!o.name.starts_with(prefix)) return false;
      int64_t element = -1;
      const char* end = o.name.data() + o.name.size();
      auto [at, error] = std::from_chars(o.name.data() + prefix.size(), end, element);
      return error == std::errc() && at == end && element >= 0 && element < count &&
             sizeName(input.name(), element) == o.name;
    };
    if (std::ranges::any_of(options_.variables, isElement)) findings_.values.insert(input.name());
    if (!findings_.values.contains(input.name())) continue;
    for (int64_t i = 0; i < count; ++i) {
      sizes_.declare(sizeName(input.name(), i), bounds, SizeVariables::Source::Default);
      inputOf_.try_emplace(sizeName(input.name(), i), &input);
    }
  }
}

// Free sizes in front, then elements of inputs of a few integers.
std::vector<std::string> OnnxImporter::openSizes() const {
  std::vector<std::string> all = unbounded_;
  for (const proto::ValueInfoProto& input : file_->model.graph().input())
    for (int64_t i = 0; !constantFiles_.contains(input.name()) && i < valueCount(input); ++i)
      if (std::ranges::find(all, sizeName(input.name(), i)) == all.end()) all.push_back(sizeName(input.name(), i));
  return all;
}

void OnnxImporter::addValues(const proto::ValueInfoProto& input, const Tensor& x) {
  if (!findings_.values.contains(input.name())) return;
  std::vector<UOp> elements;
  for (int64_t i = 0; i < valueCount(input); ++i) {
    const Dim size = sizeOf(SizeForm::variable(sizeName(input.name(), i)));
    if (!size) return;
    const bool isNumber = size.isConst();
    elements.push_back(isNumber ? builder_.graph().constant(Scalar::ofInt(x.dtype(), size.constant())) : size.node());
    values_.push_back({input.name(), i, valueCount(input), x, size});
  }
  known_.set(x, std::move(elements));
}

bool OnnxImporter::isOfValues(Dim d) const {
  return std::ranges::any_of(toposort(d.node()), [&](UOp n) {
    return n.op() == Op::Var && std::ranges::any_of(values_, [&](const ValueOfInput& v) { return v.size.node() == n; });
  });
}

// What the model declares of an output says what elements of inputs are.
void OnnxImporter::demandDeclared(const proto::ValueInfoProto& output, const Tensor& x) {
  const proto::TensorShapeProto& shape = output.type().tensor_type().shape();
  if (values_.empty() || !hasShape(output) || shape.dim_size() != x.rank()) return;
  for (int i = 0; i < x.rank(); ++i)
    if (shape.dim(i).has_dim_value() && shape.dim(i).dim_value() > 0 && isOfValues(x.dim(i)))
      demands_.push_back({x.dim(i).node(), builder_.dim(shape.dim(i).dim_value()).node(), true,
                          "the declared shape of the output '" + shortened(output.name()) + "'"});
}

// Elements that are numbers now, or sizes of the model, are compared in every run.
void OnnxImporter::finishValues() {
  if (values_.empty() || !problems_.isEmpty()) return;
  const std::vector<UOp> used = builder_.usedVariables();
  std::map<std::string, std::pair<std::vector<Tensor>, std::vector<Tensor>>> compared;  // given and wanted, by input
  for (const ValueOfInput& v : values_) {
    const UOp variable = v.size.node().op() == Op::Var ? v.size.node() : UOp();
    if (variable && std::ranges::find(used, variable) == used.end()) {
      const std::string name(variable.argAs<VarArg>().name);
      builder_.dropVariable(name);
      std::erase(unbounded_, name);
      continue;
    }
    isOpen_ |= variable && !sizes_.isGiven(std::string(variable.argAs<VarArg>().name));
    const Tensor flat = reshape(cast(v.x, DType::I64), {builder_.dim(v.count)});
    auto& [given, wanted] = compared[v.input];
    given.push_back(squeeze(narrow(flat, 0, builder_.dim(v.element), builder_.dim(1)), 0));
    wanted.push_back(cast(builder_.value(v.size), DType::I64));
  }
  for (const auto& [input, rows] : compared) {
    Error text(Diag::InputMismatch, "the input '" + input + "' against the sizes that its elements are in this plan");
    builder_.expect(builder_.op("stack", rows.first, {{"axis", 0}}), builder_.op("stack", rows.second, {{"axis", 0}}),
                    printable(std::move(text))->message);
  }
  takeError();
}

}  // namespace svod
