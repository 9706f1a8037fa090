// Any bytes as an ONNX model, read without options and with some that its last bytes choose: it is refused with errors,
// or becomes a legal graph.
#include <cstdio>
#include <cstdlib>

#include "common/fuzz_target.h"
#include "ir/verify.h"
#include "onnx/model_file.h"
#include "onnx/onnx.h"

const char* const kSeedCorpus = "tests/onnx/corpus/onnx";

namespace {

using namespace svod;

/// Choices by the bytes of an input, from its end on: what a mutation of them changes is the options alone, mostly.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  size_t upTo(size_t most) {
    const uint8_t byte = bytes_.empty() ? uint8_t{0} : bytes_[bytes_.size() - 1 - at_++ % bytes_.size()];
    return byte % (most + 1);
  }
  const std::string& of(const std::vector<std::string>& texts) { return texts[upTo(texts.size() - 1)]; }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

/// Names that options may use: those of the model, and some that it does not have.
struct Names {
  std::vector<std::string> values = {"absent"}, dims = {"n", "m", "absent.0"}, ops;

  explicit Names(const proto::GraphProto& graph) {
    for (const proto::ValueInfoProto& input : graph.input()) {
      values.push_back(input.name());
      for (int i = 0; i < input.type().tensor_type().shape().dim_size(); ++i) {
        const std::string& dim = input.type().tensor_type().shape().dim(i).dim_param();
        dims.push_back(dim.empty() ? input.name() + "." + std::to_string(i) : dim);
      }
    }
    for (const proto::NodeProto& node : graph.node()) {
      ops.push_back(node.domain() + ":" + node.op_type());
      for (const std::string& name : node.output()) values.push_back(name);
    }
  }
};

std::string size(Choices& choices, const Names& names) {
  const std::string& name = choices.of(names.dims);
  return choices.of({name, name, "2*" + name + "+1", "-1", "0", "1", "3", "1000000", "9223372036854775807"});
}

LoadOptions optionsOf(const proto::GraphProto& graph, Choices& choices) {
  const Names names(graph);
  LoadOptions options;
  for (size_t count = choices.upTo(3); count-- > 0;) {
    const std::string text = choices.of(names.dims) + "=" +
                             choices.of({size(choices, names), "2:9", "0:0", "1:1099511627776", "5:5", "-3:7"});
    if (Result<VariableOption> option = parseVariableOption(text)) options.variables.push_back(*option);
  }
  for (size_t count = choices.upTo(3); count-- > 0;) {
    std::string text = choices.of(names.values) + "=";
    for (size_t rank = choices.upTo(4), i = 0; i < rank; ++i) text += (i > 0 ? "," : "") + size(choices, names);
    if (Result<ShapeOption> option = parseShapeOption(text)) options.shapes.push_back(*option);
  }
  if (choices.upTo(7) == 7) options.constants.emplace_back(choices.of(names.values), "tests/onnx/absent.npy");
  if (choices.upTo(7) == 7) options.states.emplace_back(choices.of(names.values), choices.of(names.values));
  for (size_t count = choices.upTo(2); count-- > 0 && !names.ops.empty();)
    if (Result<HostOpOption> option = parseHostOpOption(choices.of(names.ops) + choices.of({"", "=f32", "=i64"})))
      options.hostOps.push_back(*option);
  return options;
}

void check(std::span<const uint8_t> bytes, const LoadOptions& options) {
  const OnnxImport import = importOnnxBytes(std::as_bytes(bytes), "fuzz.onnx", options);
  if (!import.model) {
    if (import.errors.empty()) std::abort();
    return;
  }
  for (UOp v : import.model->variables)
    if (v.bounds().min > v.bounds().max || v.bounds().max > int64_t{1} << 40) std::abort();
  if (Status legal = verify(import.model->sink, Stage::Tensor); !legal) {
    std::fprintf(stderr, "built an illegal graph: %s\n", toText(legal.error()).c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  check(bytes, {});
  Choices choices(bytes);
  if (const auto file = parseOnnx(std::as_bytes(bytes), "fuzz.onnx"))
    for (int i = 0; i < 2; ++i) check(bytes, optionsOf((*file)->model.graph(), choices));
  return 0;
}
