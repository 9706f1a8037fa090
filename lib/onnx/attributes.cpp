#include "onnx/attributes.h"

#include <algorithm>

#include "onnx/node.h"
#include "support/text.h"

namespace svod {

namespace {

int fileType(OnnxType type) {
  switch (type) {
    case OnnxType::Float: return kFloat;
    case OnnxType::Int:
    case OnnxType::Flag:
    case OnnxType::DType: return kInt;
    case OnnxType::String: return kString;
    case OnnxType::Tensor: return kTensor;
    case OnnxType::Sparse: return kSparse;
    case OnnxType::Type: return kType;
    case OnnxType::Graph: return kGraph;
    case OnnxType::Floats: return kFloats;
    case OnnxType::Ints: return kInts;
    default: return kStrings;
  }
}

std::string_view typeName(int type) {
  constexpr std::string_view kNames[] = {"of no type",       "a float", "an integer",       "a string",
                                         "a tensor",         "a graph", "a list of floats", "a list of integers",
                                         "a list of strings"};
  if (type == kSparse || type == kType) return type == kSparse ? "a sparse tensor" : "a type";
  return type >= 0 && type < static_cast<int>(std::size(kNames)) ? kNames[type] : "of another type";
}

}  // namespace

int typeOf(const proto::AttributeProto& a) {
  if (a.type() != 0) return a.type();
  if (a.has_f()) return kFloat;
  if (a.has_i()) return kInt;
  if (a.has_s()) return kString;
  if (a.has_t()) return kTensor;
  if (a.has_g()) return kGraph;
  if (a.has_sparse_tensor()) return kSparse;
  if (a.has_tp()) return kType;
  if (a.floats_size() > 0) return kFloats;
  if (a.ints_size() > 0) return kInts;
  return a.strings_size() > 0 ? kStrings : 0;
}

namespace {

// An empty list has no field that tells its type.
bool fits(const proto::AttributeProto& a, OnnxType type) {
  int have = typeOf(a), want = fileType(type);
  return have == want || (have == 0 && want >= kFloats && want <= kStrings);
}

// Said about how results may be computed, never about what they are; older exporters write them everywhere.
constexpr std::string_view kWithoutMeaning[] = {"consumed_inputs", "doc_string"};

}  // namespace

std::vector<const proto::AttributeProto*> resolveAttributes(const proto::NodeProto& node,
                                                            const FunctionAttributes& function,
                                                            std::vector<std::unique_ptr<proto::AttributeProto>>& made) {
  std::vector<const proto::AttributeProto*> all;
  for (const proto::AttributeProto& a : node.attribute()) {
    if (a.ref_attr_name().empty()) {
      all.push_back(&a);
      continue;
    }
    auto given = function.find(a.ref_attr_name());
    if (given == function.end()) continue;
    made.push_back(std::make_unique<proto::AttributeProto>(*given->second));
    made.back()->set_name(a.name());
    all.push_back(made.back().get());
  }
  std::erase_if(all, [](const proto::AttributeProto* a) {
    return std::ranges::find(kWithoutMeaning, a->name()) != std::end(kWithoutMeaning);
  });
  return all;
}

Status checkAttributes(const OnnxOp& op, const std::vector<const proto::AttributeProto*>& attributes) {
  const std::vector<OnnxAttribute>& specs = onnxAttributes(op);
  for (size_t i = 0; i < attributes.size(); ++i) {
    const proto::AttributeProto& a = *attributes[i];
    const std::string name = "the attribute '" + shortened(a.name()) + "'";
    auto spec = std::ranges::find(specs, std::string_view(a.name()), &OnnxAttribute::name);
    if (spec == specs.end()) {
      std::string known = specs.empty() ? "it is supported without attributes" : "supported are";
      for (const OnnxAttribute& s : specs) known += " " + std::string(s.name);
      return fail(Diag::Unsupported, name + " is not supported", known);
    }
    if (!fits(a, spec->type))
      return fail(Diag::BadAttribute, name + " is " + std::string(typeName(typeOf(a))),
                  "it must be " + std::string(typeName(fileType(spec->type))));
    for (size_t j = 0; j < i; ++j)
      if (attributes[j]->name() == a.name())
        return fail(Diag::BadAttribute, name + " is given twice", "keep one of them");
  }
  for (const OnnxAttribute& spec : specs)
    if (spec.isRequired && std::ranges::none_of(attributes, [&](auto* a) { return a->name() == spec.name; }))
      return fail(Diag::BadAttribute, "the attribute '" + std::string(spec.name) + "' is missing",
                  "it is " + std::string(typeName(fileType(spec.type))));
  return {};
}

Attributes graphAttributes(const OnnxNode& node) {
  Attributes all;
  for (const OnnxAttribute& spec : onnxAttributes(node.op)) {
    if (!node.has(spec.name)) continue;
    const std::string name(spec.name);
    AttributeValue::List list;
    switch (spec.type) {
      case OnnxType::Float: all.emplace_back(name, node.number(spec.name)); break;
      case OnnxType::Int: all.emplace_back(name, node.integer(spec.name)); break;
      case OnnxType::Flag: all.emplace_back(name, node.flag(spec.name)); break;
      case OnnxType::DType: all.emplace_back(name, node.dtype(spec.name)); break;
      case OnnxType::String: all.emplace_back(name, node.word(spec.name)); break;
      case OnnxType::Ints:
        for (int64_t v : node.integers(spec.name)) list.emplace_back(v);
        all.emplace_back(name, std::move(list));
        break;
      case OnnxType::Floats:
        for (double v : node.numbers(spec.name)) list.emplace_back(v);
        all.emplace_back(name, std::move(list));
        break;
      default: break;
    }
  }
  return all;
}

}  // namespace svod
