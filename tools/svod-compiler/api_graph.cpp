// Functions of svod/compiler.h that build graphs.
#include <algorithm>

#include "tools/svod-compiler/call.h"

using namespace svod;

namespace {

ConstData dataOf(const void* data, size_t bytes) { return {static_cast<const std::byte*>(data), bytes, nullptr}; }

using MakePort = Tensor (*)(GraphBuilder& b, const char* name, DType dtype, const Dims& dims, ConstData data);

int port(svod_graph* graph, const char* name, const svod_type& type, ConstData data, svod_value* value,
         svod_error* error, MakePort make) {
  return buildCall(graph, error, {name, value, type.dtype}, [&](GraphBuilder& b) -> Status {
    if (type.rank > 0) SVOD_CHECK(checkGiven({type.dims}));
    SVOD_TRY(const DType dtype, dtypeOf(type.dtype));
    SVOD_TRY(const Dims dims, dimsOf(*graph, type.dims, type.rank));
    give(*graph, make(b, name, dtype, dims, std::move(data)), value);
    return {};
  });
}

Result<Dim> combined(char sign, Dim a, Dim b) {
  if ((sign == '/' || sign == '%') && b.min() <= 0 && b.max() >= 0)
    return fail(Diag::Usage, "the size " + describe(b) + ", which may be 0, divides", "give it bounds without 0");
  switch (sign) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return floordiv(a, b);
    case '%': return floormod(a, b);
    default: break;
  }
  return fail(Diag::Usage, "sizes have no operator '" + std::string(1, sign) + "'", "give one of + - * / %");
}

}  // namespace

int svod_graph_create(const char* name, svod_graph** graph, svod_error* error) {
  return guardCall(error, [&]() -> Status {
    SVOD_CHECK(checkGiven({name, graph}));
    SVOD_CHECK(checkGraphName(name));
    *graph = new svod_graph{name};
    (*graph)->builder.recordTo(&(*graph)->log);
    return {};
  });
}

void svod_graph_free(svod_graph* graph) { delete graph; }

int svod_graph_variable(svod_graph* graph, const char* name, int64_t min, int64_t max, int64_t likely, svod_size* size,
                        svod_error* error) {
  return buildCall(graph, error, {name, size}, [&](GraphBuilder& b) -> Status {
    const std::optional<int64_t> given = likely == 0 ? std::nullopt : std::optional(likely);
    give(*graph, b.variable(name, min, max, given), size);
    return {};
  });
}

int svod_graph_size(svod_graph* graph, char sign, svod_size a, svod_size b, svod_size* size, svod_error* error) {
  return buildCall(graph, error, {size}, [&](GraphBuilder&) -> Status {
    SVOD_TRY(const Dim left, sizeOf(*graph, a));
    SVOD_TRY(const Dim right, sizeOf(*graph, b));
    SVOD_TRY(const Dim made, combined(sign, left, right));
    give(*graph, made, size);
    return {};
  });
}

int svod_graph_dim(svod_graph* graph, svod_value value, int axis, svod_size* size, svod_error* error) {
  return buildCall(graph, error, {size}, [&](GraphBuilder& b) -> Status {
    SVOD_TRY(const Tensor x, valueOf(*graph, value, "the value"));
    const int index = b.axis(x, axis);
    if (!b.failed()) give(*graph, x.dim(index), size);
    return {};
  });
}

size_t svod_graph_rank(const svod_graph* graph, svod_value value) {
  if (graph == nullptr || value == 0 || value > graph->values.size()) return 0;
  return static_cast<size_t>(graph->values[value - 1].rank());
}

const char* svod_graph_dtype(const svod_graph* graph, svod_value value) {
  if (graph == nullptr || value == 0 || value > graph->values.size()) return "";
  return toText(graph->values[value - 1].dtype()).data();  // of a table of literals
}

int svod_graph_input(svod_graph* graph, const char* name, svod_type type, svod_value* value, svod_error* error) {
  return port(graph, name, type, {}, value, error,
              [](GraphBuilder& b, const char* called, DType dtype, const Dims& dims, ConstData) {
                return b.input(called, dtype, dims);
              });
}

int svod_graph_weight(svod_graph* graph, const char* name, svod_type type, const void* data, size_t bytes,
                      svod_value* value, svod_error* error) {
  return port(graph, name, type, dataOf(data, bytes), value, error,
              [](GraphBuilder& b, const char* called, DType dtype, const Dims& dims, ConstData given) {
                return b.weight(called, dtype, dims, std::move(given));
              });
}

int svod_graph_state(svod_graph* graph, const char* name, svod_type type, const void* data, size_t bytes,
                     svod_value* value, svod_error* error) {
  return port(graph, name, type, data == nullptr ? ConstData() : dataOf(data, bytes), value, error,
              [](GraphBuilder& b, const char* called, DType dtype, const Dims& dims, ConstData given) {
                return b.state(called, dtype, dims, std::move(given));
              });
}

int svod_graph_temporary(svod_graph* graph, svod_value start, svod_value* value, svod_error* error) {
  return buildCall(graph, error, {value}, [&](GraphBuilder& b) -> Status {
    SVOD_TRY(const Tensor x, valueOf(*graph, start, "the start value"));
    give(*graph, b.temporary(x), value);
    return {};
  });
}

int svod_graph_assign(svod_graph* graph, svod_value target, svod_value value, svod_error* error) {
  return buildCall(graph, error, {}, [&](GraphBuilder& b) -> Status {
    SVOD_TRY(const Tensor to, valueOf(*graph, target, "the target"));
    SVOD_TRY(const Tensor x, valueOf(*graph, value, "the value"));
    b.assign(to, x);
    return {};
  });
}

int svod_graph_output(svod_graph* graph, const char* name, svod_value value, svod_error* error) {
  return buildCall(graph, error, {name}, [&](GraphBuilder& b) -> Status {
    SVOD_TRY(const Tensor x, valueOf(*graph, value, "the output"));
    b.output(name, x);
    return {};
  });
}

int svod_graph_number(svod_graph* graph, double number, svod_value* value, svod_error* error) {
  return buildCall(graph, error, {value}, [&](GraphBuilder& b) -> Status {
    give(*graph, b.literal(number), value);
    return {};
  });
}

int svod_graph_integer(svod_graph* graph, int64_t number, svod_value* value, svod_error* error) {
  return buildCall(graph, error, {value}, [&](GraphBuilder& b) -> Status {
    give(*graph, b.literal(number), value);
    return {};
  });
}

int svod_graph_value_of(svod_graph* graph, svod_size size, svod_value* value, svod_error* error) {
  return buildCall(graph, error, {value}, [&](GraphBuilder& b) -> Status {
    SVOD_TRY(const Dim dim, sizeOf(*graph, size));
    give(*graph, b.value(dim), value);
    return {};
  });
}

int svod_graph_op(svod_graph* graph, const char* name, const svod_value* operands, size_t operand_count,
                  const svod_attribute* attributes, size_t attribute_count, svod_value* results, size_t room,
                  size_t* count, svod_error* error) {
  return buildCall(graph, error, {name}, [&](GraphBuilder& b) -> Status {
    if (operand_count > 0) SVOD_CHECK(checkGiven({operands}));
    if (attribute_count > 0) SVOD_CHECK(checkGiven({attributes}));
    if (room > 0) SVOD_CHECK(checkGiven({results}));
    while (operand_count > 0 && operands[operand_count - 1] == 0) --operand_count;
    std::vector<Tensor> given;
    for (size_t i = 0; i < operand_count; ++i) {
      SVOD_TRY(const Tensor x, valueOf(*graph, operands[i], ("operand " + std::to_string(i)).c_str()));
      given.push_back(x);
    }
    SVOD_TRY(const Attributes said, attributesOf(*graph, name, attributes, attribute_count));
    const std::vector<Tensor> made = b.ops(name, given, said);
    for (size_t i = 0; i < std::min(made.size(), room); ++i) give(*graph, made[i], &results[i]);
    if (count != nullptr) *count = made.size();
    return {};
  });
}

int svod_graph_begin_loop(svod_graph* graph, const char* counter, svod_size count, svod_size* index,
                          svod_error* error) {
  return buildCall(graph, error, {counter, index}, [&](GraphBuilder& b) -> Status {
    SVOD_TRY(const Dim often, sizeOf(*graph, count));
    const Dim made = b.beginLoop(counter, often, {});
    if (made) ++graph->openLoops;
    give(*graph, made, index);
    return {};
  });
}

int svod_graph_end_loop(svod_graph* graph, svod_error* error) {
  return buildCall(graph, error, {}, [&](GraphBuilder& b) -> Status {
    if (graph->openLoops == 0) return fail(Diag::Usage, "no loop of the graph is open", "svod_graph_begin_loop");
    b.endLoop();
    --graph->openLoops;
    return {};
  });
}

int svod_graph_text(svod_graph* graph, const char** text, svod_error* error) {
  return guardCall(error, [&]() -> Status {
    SVOD_CHECK(checkGiven({graph, text}));
    SVOD_CHECK(completeGraph(*graph));
    *text = graph->text.c_str();
    return {};
  });
}
