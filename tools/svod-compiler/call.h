// How functions of svod/compiler.h begin and end.
#pragma once
#include <new>

#include "runtime-min/report_error.h"
#include "tools/svod-compiler/graph.h"

namespace svod {

/// What is thrown stays inside: memory that there is not, and nothing else.
template <class Body>
int guardCall(svod_error* error, Body body) noexcept {
  try {
    const Status status = body();
    return status ? 0 : report(status.error(), error);
  } catch (const std::bad_alloc&) {
    return fillError(error, Diag::DeviceFailure, "out of memory", "use smaller shapes, or fewer jobs (-j)");
  }
}

inline Status checkGiven(std::initializer_list<const void*> pointers) {
  for (const void* pointer : pointers)
    if (pointer == nullptr)
      return fail(Diag::Usage, "a null pointer was given", "svod/compiler.h says what may be NULL");
  return {};
}

/// A call that adds to a graph. `body` gets the builder, whose first error is that of the call.
template <class Body>
int buildCall(svod_graph* graph, svod_error* error, std::initializer_list<const void*> pointers, Body body) noexcept {
  return guardCall(error, [&]() -> Status {
    SVOD_CHECK(checkGiven({graph}));
    SVOD_CHECK(checkGiven(pointers));
    if (graph->isComplete) return fail(Diag::Usage, "the graph is complete", "compile it, or create another one");
    SVOD_CHECK(body(graph->builder));
    if (std::optional<Error> failed = graph->builder.takeError()) return fail(std::move(*failed));
    return {};
  });
}

/// The number of a value that was built; nothing after an error, which the call reports.
inline void give(svod_graph& graph, Tensor made, svod_value* value) {
  if (!made || graph.builder.failed()) return;
  graph.values.push_back(made);
  *value = static_cast<svod_value>(graph.values.size());
}
inline void give(svod_graph& graph, Dim made, svod_size* size) {
  if (made && !graph.builder.failed()) *size = numberOf(graph, made);
}

}  // namespace svod
