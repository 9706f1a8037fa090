// Names of an ONNX model: they become names of the plan, which are UTF-8.
#include "onnx/model_names.h"

#include "support/utf8.h"

namespace svod {

namespace {

/// The first name that is not UTF-8, found by walking the model; nested graphs are as deep as the parser allows.
class NameCheck {
 public:
  explicit NameCheck(const std::string& path) : path_(path) {}
  Status model(const proto::ModelProto& model) {
    graph(model.graph());
    for (const proto::FunctionProto& f : model.functions()) {
      name(f.name(), "a function");
      for (const std::string& text : f.input()) name(text, "an input of a function");
      for (const std::string& text : f.output()) name(text, "an output of a function");
      for (const proto::NodeProto& n : f.node()) node(n);
    }
    return std::move(status_);
  }

 private:
  void graph(const proto::GraphProto& g) {
    for (const proto::ValueInfoProto& v : g.input()) value(v, "an input");
    for (const proto::ValueInfoProto& v : g.output()) value(v, "an output");
    for (const proto::ValueInfoProto& v : g.value_info()) value(v, "a value");
    for (const proto::TensorProto& t : g.initializer()) name(t.name(), "an initializer");
    for (const proto::SparseTensorProto& t : g.sparse_initializer()) name(t.values().name(), "an initializer");
    for (const proto::NodeProto& n : g.node()) node(n);
  }
  void value(const proto::ValueInfoProto& v, const char* what) {
    name(v.name(), what);
    for (const proto::TensorShapeProto::Dimension& d : v.type().tensor_type().shape().dim())
      name(d.dim_param(), "a dim");
  }
  void node(const proto::NodeProto& n) {
    name(n.name(), "a node");
    name(n.op_type(), "the op of a node");
    for (const std::string& text : n.input()) name(text, "an input of a node");
    for (const std::string& text : n.output()) name(text, "an output of a node");
    for (const proto::AttributeProto& a : n.attribute()) {
      name(a.name(), "an attribute");
      if (a.has_g()) graph(a.g());
      for (const proto::GraphProto& g : a.graphs()) graph(g);
    }
  }
  void name(const std::string& text, const char* what) {
    const std::optional<size_t> bad = status_ ? firstNotUtf8(text) : std::nullopt;
    if (!bad) return;
    status_ = fail(Error(Diag::Syntax,
                         notUtf8Text(text, *bad) + ": it is byte " + std::to_string(*bad + 1) + " of the name of " +
                             what + ", '" + toUtf8(text) + "'",
                         "names are UTF-8: rename it in the model", {path_, 0, 0}));
  }

  const std::string& path_;
  Status status_;
};

}  // namespace

Status checkNames(const proto::ModelProto& model, const std::string& path) { return NameCheck(path).model(model); }

}  // namespace svod
