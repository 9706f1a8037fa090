/* svod compiler: builds graphs or reads them, and compiles them as svodc does, inside of a program. C99.
 *
 *   svod_graph* graph;          values and sizes under construction
 *   svod_artifacts* artifacts;  what one compile made: the files of a plan, libraries, headers
 *
 * Errors. As in svod/runtime.h: functions that can fail return 0, or the exit code svodc would end with, and fill
 * *error when `error` is not NULL. The codes are those of svodc. A call that fails adds nothing to its graph.
 *
 * Threads. An svod_graph is for one thread at a time, svod_artifacts for any number at once. svod_compile_* may be
 * called from any thread; compiles of one process are done one after the other, each with --jobs threads of its own.
 * No signal handler and no exception leaves the library, and nothing is printed. It reads the environment as svodc
 * does, TMPDIR, XDG_CACHE_HOME and the variables of flags, but for MAKEFLAGS.
 *
 * Memory. A compile that runs out of it ends with exit code 6 ("device-failure"), but for the code generator, which
 * ends the process.
 *
 * Versions. svod_compiler_abi() is SVOD_COMPILER_ABI of the header that the library was built with. It rises with an
 * incompatible change, as the number behind libsvod-compiler.so does. */
#ifndef SVOD_COMPILER_H
#define SVOD_COMPILER_H

#include <svod/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SVOD_COMPILER_ABI 0
SVOD_API int svod_compiler_abi(void);
/* "0.1.0", as svodc --version says it. */
SVOD_API const char* svod_compiler_release(void);

/* --- Graphs. docs/graph-format.md says what their parts mean. */

typedef struct svod_graph svod_graph;
/* A tensor of a graph; 0 is none. */
typedef uint32_t svod_value;
/* A number, or a size that runs give: what svod_graph_variable and the other functions for sizes fill in. */
typedef int64_t svod_size;

/* `name` is that of the plan: letters, digits, _ and -. */
SVOD_API int svod_graph_create(const char* name, svod_graph** graph, svod_error* error);
SVOD_API void svod_graph_free(svod_graph* graph);

/* An integer in [min, max] that every run gives. Sizes are tuned for `likely`; 0: for the default, which is in bounds.
 */
SVOD_API int svod_graph_variable(svod_graph* graph, const char* name, int64_t min, int64_t max, int64_t likely,
                                 svod_size* size, svod_error* error);
/* a + b, a - b, a * b, a / b rounded toward -infinity, a % b: `sign` is one of + - * / %. */
SVOD_API int svod_graph_size(svod_graph* graph, char sign, svod_size a, svod_size b, svod_size* size,
                             svod_error* error);
/* The size of a dim of a value; a negative axis counts from the end. */
SVOD_API int svod_graph_dim(svod_graph* graph, svod_value value, int axis, svod_size* size, svod_error* error);

typedef struct svod_type {
  const char* dtype; /* "f32", "i64", "bf16"; the list is in docs/graph-format.md */
  const svod_size* dims;
  size_t rank;
} svod_type;

/* The rank and element type of a value, whose text lives as long as the library; 0 and "" for none. */
SVOD_API size_t svod_graph_rank(const svod_graph* graph, svod_value value);
SVOD_API const char* svod_graph_dtype(const svod_graph* graph, svod_value value);

SVOD_API int svod_graph_input(svod_graph* graph, const char* name, svod_type type, svod_value* value,
                              svod_error* error);
/* `data`: the elements in C order, little endian, bool as a byte, elements of 2 and 4 bits sharing bytes, lowest first.
 * It is read until the graph is freed. */
SVOD_API int svod_graph_weight(svod_graph* graph, const char* name, svod_type type, const void* data, size_t bytes,
                               svod_value* value, svod_error* error);
/* A buffer that keeps its value between runs. It starts as `data`, or as zeros where that is NULL. */
SVOD_API int svod_graph_state(svod_graph* graph, const char* name, svod_type type, const void* data, size_t bytes,
                              svod_value* value, svod_error* error);
/* A buffer of one run that starts as `start`: what loops carry along. */
SVOD_API int svod_graph_temporary(svod_graph* graph, svod_value start, svod_value* value, svod_error* error);
/* Stores a value into a state or temporary, or into a view of one. */
SVOD_API int svod_graph_assign(svod_graph* graph, svod_value target, svod_value value, svod_error* error);
SVOD_API int svod_graph_output(svod_graph* graph, const char* name, svod_value value, svod_error* error);

/* A number without an element type of its own: it takes that of the tensor it meets. */
SVOD_API int svod_graph_number(svod_graph* graph, double number, svod_value* value, svod_error* error);
SVOD_API int svod_graph_integer(svod_graph* graph, int64_t number, svod_value* value, svod_error* error);
/* A size as an integer scalar, which ops cast. */
SVOD_API int svod_graph_value_of(svod_graph* graph, svod_size size, svod_value* value, svod_error* error);

/* What the values of an attribute are. */
typedef enum svod_attribute_kind {
  SVOD_ATTRIBUTE_INTEGER = 0, /* int64_t */
  SVOD_ATTRIBUTE_NUMBER = 1,  /* double */
  SVOD_ATTRIBUTE_FLAG = 2,    /* int64_t: 0 or 1 */
  SVOD_ATTRIBUTE_SIZE = 3,    /* svod_size */
  SVOD_ATTRIBUTE_TEXT = 4     /* const char*: a word, or an element type. Never a list */
} svod_attribute_kind;

typedef struct svod_attribute {
  const char* name;
  int kind;           /* svod_attribute_kind */
  size_t count;       /* of a list; SVOD_NONE: there is one value */
  const void* values; /* text: the characters themselves */
} svod_attribute;

/* Any op that svodc --list-ops lists, by name. The first `room` results are written to `results`, and their number to
 * *count, which may be NULL. Operands that an op can do without are 0 at the end, or left out. */
SVOD_API int svod_graph_op(svod_graph* graph, const char* name, const svod_value* operands, size_t operand_count,
                           const svod_attribute* attributes, size_t attribute_count, svod_value* results, size_t room,
                           size_t* count, svod_error* error);

/* What is built between these two runs once per iteration, with the counter 0, 1, .. count-1. Values of it stay inside;
 * svod_graph_assign takes them out. */
SVOD_API int svod_graph_begin_loop(svod_graph* graph, const char* counter, svod_size count, svod_size* index,
                                   svod_error* error);
SVOD_API int svod_graph_end_loop(svod_graph* graph, svod_error* error);

/* The graph as the text of a .svod file, until the graph is freed. Large weights are named in it and not part of it.
 * From here on the graph takes nothing more. */
SVOD_API int svod_graph_text(svod_graph* graph, const char** text, svod_error* error);

/* --- Compiles. `flags` are words of svodc compile, such as "--cpu", "x86-64-v3". Those that name results, -o and
 * --emit KIND=PATH, name them relative to `folder`; without them the result is the plan NAME.plan. Where `folder` is
 * NULL, files are only in the artifacts. A folder that is named must be there. */

typedef struct svod_artifacts svod_artifacts;

/* A .svod or .json graph file, or an ONNX model. */
SVOD_API int svod_compile_file(const char* path, const char* const* flags, size_t flag_count, const char* folder,
                               svod_artifacts** artifacts, svod_error* error);
/* The text of a .svod file; files that it names have absolute paths. `name` is that of the plan. */
SVOD_API int svod_compile_text(const char* text, const char* name, const char* const* flags, size_t flag_count,
                               const char* folder, svod_artifacts** artifacts, svod_error* error);
/* From here on the graph takes nothing more; it may be compiled again. */
SVOD_API int svod_compile_graph(svod_graph* graph, const char* const* flags, size_t flag_count, const char* folder,
                                svod_artifacts** artifacts, svod_error* error);

SVOD_API void svod_artifacts_free(svod_artifacts* artifacts);
/* Files in the order of their paths, which are relative to the folder: "digits.plan/plan.json". */
SVOD_API size_t svod_artifacts_count(const svod_artifacts* artifacts);
SVOD_API const char* svod_artifacts_path(const svod_artifacts* artifacts, size_t index);
/* The bytes, until the artifacts are freed; they are mapped, so files of a folder must not shrink. */
SVOD_API const void* svod_artifacts_data(const svod_artifacts* artifacts, size_t index, size_t* bytes);
/* What svodc compile --json prints. */
SVOD_API const char* svod_artifacts_report(const svod_artifacts* artifacts);
/* Warnings and notes as svodc words them, one after the other; "" where there are none. */
SVOD_API const char* svod_artifacts_notes(const svod_artifacts* artifacts);

#ifdef __cplusplus
}
#endif

#endif
