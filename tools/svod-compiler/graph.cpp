#include "tools/svod-compiler/graph.h"

#include <algorithm>
#include <span>

#include "frontend/graph_op.h"

namespace svod {

namespace {

constexpr svod_size kFirstSize = INT64_MIN + 1;  // numbers that stand for sizes of runs
constexpr svod_size kLeastNumber = -(INT64_C(1) << 62);

template <class T>
std::span<const T> elementsOf(const svod_attribute& attribute) {
  return {static_cast<const T*>(attribute.values), attribute.count == SVOD_NONE ? 1 : attribute.count};
}

/// One value, or the list of them.
template <class T, class Convert>
Result<AttributeValue> converted(const svod_attribute& attribute, Convert convert) {
  AttributeValue::List list;
  for (const T& element : elementsOf<T>(attribute)) {
    SVOD_TRY(AttributeValue one, convert(element));
    list.push_back(std::move(one));
  }
  return attribute.count == SVOD_NONE ? std::move(list[0]) : AttributeValue(std::move(list));
}

/// A text is an element type where the op takes one.
Result<AttributeValue> textOf(std::string_view op, const svod_attribute& attribute) {
  const char* const text = static_cast<const char*>(attribute.values);
  const GraphOp* const row = findGraphOp(op);
  if (row == nullptr) return AttributeValue(text);
  const std::vector<AttributeSpec>& specs = attributeSpecs(*row);
  const auto spec = std::ranges::find(specs, std::string_view(attribute.name), &AttributeSpec::name);
  if (spec == specs.end() || spec->type != AttributeType::DType) return AttributeValue(text);
  return dtypeOf(text).transform([](DType dtype) { return AttributeValue(dtype); });
}

Result<AttributeValue> valueOf(svod_graph& graph, std::string_view op, const svod_attribute& attribute) {
  switch (attribute.kind) {
    case SVOD_ATTRIBUTE_INTEGER:
      return converted<int64_t>(attribute, [](int64_t v) -> Result<AttributeValue> { return AttributeValue(v); });
    case SVOD_ATTRIBUTE_NUMBER:
      return converted<double>(attribute, [](double v) -> Result<AttributeValue> { return AttributeValue(v); });
    case SVOD_ATTRIBUTE_FLAG:
      return converted<int64_t>(attribute, [](int64_t v) -> Result<AttributeValue> { return AttributeValue(v != 0); });
    case SVOD_ATTRIBUTE_SIZE:
      return converted<svod_size>(attribute, [&](svod_size v) {
        return sizeOf(graph, v).transform(
            [](Dim d) { return d.isConst() ? AttributeValue(d.constant()) : AttributeValue(d); });
      });
    case SVOD_ATTRIBUTE_TEXT: return textOf(op, attribute);
    default: break;
  }
  return fail(Diag::Usage,
              "attribute '" + std::string(attribute.name) + "' has the kind " + std::to_string(attribute.kind),
              "svod_attribute_kind of svod/compiler.h lists the kinds");
}

}  // namespace

Status checkGraphName(std::string_view name) {
  const auto isPlain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!name.empty() && name[0] != '-' && std::ranges::all_of(name, isPlain)) return {};
  return fail(Diag::Usage, "'" + std::string(name) + "' is no name of a graph", "give letters, digits, _ and -");
}

Status completeGraph(svod_graph& graph) {
  if (graph.isComplete) return {};
  if (graph.openLoops > 0)
    return fail(Diag::Usage, std::to_string(graph.openLoops) + " loops of the graph are open", "svod_graph_end_loop");
  graph.builder.settleLengths();
  if (std::optional<Error> error = graph.builder.takeError()) return fail(std::move(*error));
  SVOD_TRY(graph.written, writeModel(graph.builder, graph.log, graph.name + ".safetensors"));
  graph.text = writeGraphText(graph.written.file);
  graph.isComplete = true;
  return {};
}

Result<Tensor> valueOf(svod_graph& graph, svod_value value, const char* what) {
  if (value > 0 && value <= graph.values.size()) return graph.values[value - 1];
  return fail(Diag::Usage, std::string(what) + " is " + (value == 0 ? "no value" : "a value of another graph"),
              "give what a function of this graph filled in");
}

Result<Dim> sizeOf(svod_graph& graph, svod_size size) {
  if (size >= kLeastNumber) return graph.builder.dim(size);
  const auto index = static_cast<uint64_t>(size - kFirstSize);
  if (size >= kFirstSize && index < graph.sizes.size()) return graph.sizes[index];
  return fail(Diag::Usage, "a size is of another graph", "give what a function of this graph filled in");
}

Result<Dims> dimsOf(svod_graph& graph, const svod_size* dims, size_t rank) {
  std::vector<Dim> all;
  for (size_t i = 0; i < rank; ++i) {
    SVOD_TRY(const Dim one, sizeOf(graph, dims[i]));
    all.push_back(one);
  }
  return Dims(std::move(all));
}

svod_size numberOf(svod_graph& graph, Dim size) {
  if (size.isConst()) return size.constant();
  const auto known = std::ranges::find(graph.sizes, size);
  const auto index = known - graph.sizes.begin();
  if (known == graph.sizes.end()) graph.sizes.push_back(size);
  return kFirstSize + index;
}

Result<DType> dtypeOf(const char* text) {
  const std::string name = text == nullptr ? "" : text;
  if (const std::optional<DType> dtype = dtypeFromText(name)) return *dtype;
  return fail(Diag::UnknownDType, "no dtype is called '" + name + "'", "docs/graph-format.md lists them: f32, i64, ..");
}

Result<Attributes> attributesOf(svod_graph& graph, std::string_view op, const svod_attribute* attributes,
                                size_t count) {
  Attributes all;
  for (const svod_attribute& attribute : std::span(attributes, count)) {
    if (attribute.name == nullptr || (attribute.values == nullptr && attribute.count != 0))
      return fail(Diag::Usage, "an attribute has a null pointer", "give its name and its values");
    SVOD_TRY(AttributeValue value, valueOf(graph, op, attribute));
    all.emplace_back(attribute.name, std::move(value));
  }
  return all;
}

}  // namespace svod
