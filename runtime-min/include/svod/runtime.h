/* svod runtime: loads a plan that svodc wrote and runs it. C99; no compiler is needed at run time.
 *
 *   svod_plan* plan;          code and weights, shared by any number of instances
 *   svod_pool* pool;          worker threads, shared by any number of instances; optional
 *   svod_instance* instance;  memory, bindings and states of one user of the plan
 *   svod_event* event;        a count that runs and threads wait for; optional
 *
 * Errors. Functions that can fail return 0, or the exit code a program would end with (1 bad argument or
 * input, 2 a call that does not fit: a null pointer, an instance in use, a submitted run; 3 unsupported, 5 bad plan or
 * wrong CPU, 6 failure while running, 74 file trouble, 75 stopped), and fill *error when `error` is not NULL. Where the
 * pointer to a plan, instance or event is NULL, functions that return nothing do nothing, and others that have no error
 * return 0, NULL or SVOD_NONE, those that describe 1. Nothing is printed, no exception and no signal handler leaves the
 * library, and functions that it calls must not throw.
 *
 * Threads. These may be shared by any number of threads without a lock:
 *   svod_plan      it is immutable: instances of it are made, and run, on all threads at once
 *   svod_pool      instances that share it run at once, from different threads
 *   svod_event     all of its functions but svod_event_free
 * An svod_instance, with what is bound to it, is for one thread at a time. A call while another thread is in one for
 * the same instance, or from a function that its run calls, ends with exit code 2 ("usage") and changes nothing; where
 * it has no error, it does nothing or finds nothing. svod_stop, svod_poll and svod_wait are for any thread at any time.
 * svod_instance_free stops a run in progress on another thread, and waits for it; otherwise what is freed is used by
 * nobody. The only threads that the library starts are those of pools. It has no global state but a count of forks.
 *
 * Forks. A child of fork() has plans, pools, instances and events as its parent has, and may use and free them: each is
 * a copy, weights are shared until the system copies a page. Threads of a pool are started anew in the child when it
 * first needs them. A run that another thread had in progress, or that was submitted, goes on in the parent: in the
 * child its instance is free, svod_wait says 75 ("interrupted"), outputs and states are undefined (svod_reset_states),
 * and nobody waits for events. Devices other than the host stay with the parent: instances that have some end with exit
 * code 6
 * ("device-failure") in the child, which makes its own.
 *
 * Ownership. What a *_load or *_create function makes, the matching *_free function frees (NULL is allowed).
 * Instances keep their plan and their pool alive; an event must outlive the runs that name it. Texts belong to the
 * plan.
 *
 * Shapes count elements, offsets and sizes bytes, arrays are dense in C order, little endian. */
#ifndef SVOD_RUNTIME_H
#define SVOD_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SVOD_API __attribute__((visibility("default")))
#else
#define SVOD_API
#endif

/* No index: what svod_plan_find returns for a name that the plan does not have. Every function that takes an index
 * takes it as one that is not there: svod_bind_*, svod_set_variable and svod_get_* return 1 ("unknown-port"), functions
 * that describe return 1 or NULL, svod_state_data NULL, and svod_clear_variable does nothing. So what svod_plan_find
 * returns may be passed on unchecked. */
#define SVOD_NONE ((size_t)-1)

typedef struct svod_plan svod_plan;
typedef struct svod_pool svod_pool;
typedef struct svod_instance svod_instance;
typedef struct svod_event svod_event;

typedef struct svod_error {
  int exit_code;      /* as returned */
  char code[32];      /* stable name: "bad-plan", "input-mismatch"; the list is in docs/plan.md */
  char message[1024]; /* what is wrong, with the names and values involved */
  char help[256];     /* what to do next; may be empty */
} svod_error;

/* ---- Plans
 * ------------------------------------------------------------------------------------------------- */

typedef struct svod_load_options {
  /* The checksum of the weights: 0 checks it below 64 MiB, a positive number always, a negative one never. It takes one
   * to six seconds per gigabyte. */
  int verify_weights;
  /* The processor to run the code of, one of those of svod_plan_processor; NULL takes the best that this machine is.
   * Exit code 5 ("cpu-features") when the plan has no code for it, or this machine lacks something of it. */
  const char* cpu;
} svod_load_options;

/* A file of a plan in memory. */
typedef struct svod_file {
  const char* name; /* "plan.json", "kernels.so", "weights.bin" */
  const void* data; /* weights are not copied when 64-byte aligned: they must then outlive the plan */
  size_t bytes;
} svod_file;

/* Reads, checks and links a plan: `path` is its directory, or a pack, which is the plan as one file. `options` may be
 * NULL. Weights are mapped; large ones are not read. */
SVOD_API int svod_plan_load(const char* path, const svod_load_options* options, svod_plan** plan, svod_error* error);
SVOD_API int svod_plan_load_memory(const svod_file* files, size_t count, const svod_load_options* options,
                                   svod_plan** plan, svod_error* error);
/* A kernel of a plan as a function of the program. */
typedef struct svod_function {
  const char* symbol;
  void (*function)(void* const* buffers, const int64_t* values, int64_t tile_begin, int64_t tile_end, void* scratch);
} svod_function;

/* All kernels of one plan, which the program was compiled with: a constant of what svodc --emit functions writes. */
typedef struct svod_function_table {
  const char* plan; /* the digest of plan.json */
  const svod_function* functions;
  size_t count;
} svod_function_table;

/* Loads a plan with the kernels of `table` in place of its own: nothing is linked, so the plan may be one of --cc none,
 * and for any processor. `table` is used until this returns, its functions until the plan is freed. */
SVOD_API int svod_plan_load_static(const char* path, const svod_function_table* table, const svod_load_options* options,
                                   svod_plan** plan, svod_error* error);
SVOD_API void svod_plan_free(svod_plan* plan);

typedef struct svod_plan_info {
  const char *name, *triple, *cpu, *numerics, *compiler;
  size_t inputs, outputs, states, variables, kernels, steps;
  uint64_t arena_bytes;    /* intermediate buffers of one instance, at the greatest sizes */
  uint64_t state_bytes;    /* states of one instance */
  uint64_t scratch_bytes;  /* per thread of an instance's pool */
  uint64_t constant_bytes; /* weights, mapped once per plan */
} svod_plan_info;
SVOD_API void svod_plan_get_info(const svod_plan* plan, svod_plan_info* info);

/* A processor that a plan has code for. A plan with several is for each machine that is one of them: of those that lack
 * nothing, the one with the most features is taken, before any code runs. */
typedef struct svod_processor {
  const char* name;     /* as svodc --cpu had it */
  const char* features; /* those that its code may use, with blanks between */
  const char* missing;  /* those of them that this machine lacks; empty: its code runs here */
  int used;             /* svod_plan_info.cpu is its name; of a plan of svod_plan_load_static: the first */
} svod_processor;
/* By index. Nonzero when there is no such index. */
SVOD_API int svod_plan_processor(const svod_plan* plan, size_t index, svod_processor* processor);

/* Bytes that an instance with this many threads allocates: arena, states, scratch and tables, for the greatest sizes.
 * (More with svod_memory.separate.) Memory of the system, which is used without svod_memory, is occupied as runs touch
 * it: as much as the sizes need that were bound so far. */
SVOD_API uint64_t svod_plan_instance_bytes(const svod_plan* plan, size_t threads);

/* An intermediate is a buffer that steps write and read and nobody else sees: for svod_probe. */
typedef enum svod_kind { SVOD_INPUT, SVOD_OUTPUT, SVOD_STATE, SVOD_VARIABLE, SVOD_INTERMEDIATE } svod_kind;

typedef struct svod_tensor {
  const char* name;
  /* bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 f8e4m3 f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0; packed, the first
   * element in the low bits of a byte: i2 u2 i4 u4 f4e2m1. (A state of those is u8, with a byte for each element.) */
  const char* dtype;
  size_t element_bytes; /* 1 also where several elements share a byte */
  size_t rank;
  const uint64_t* max_shape;      /* rank numbers */
  const char* const* shape_texts; /* rank texts: "3", "n", "(n+1)//2" */
  uint64_t max_bytes;
} svod_tensor;

typedef struct svod_variable {
  const char* name;
  int64_t min, max; /* both inclusive */
  int fixed;        /* cannot be set: it has the value `min` and `max` both show */
} svod_variable;

/* The index of a name, or SVOD_NONE. Intermediates are called as in the graph, those that share a name NAME#NUMBER with
 * the number of the buffer. */
SVOD_API size_t svod_plan_find(const svod_plan* plan, svod_kind kind, const char* name);
/* Describes by index; not for SVOD_VARIABLE. Nonzero when there is no such index. */
SVOD_API int svod_plan_tensor(const svod_plan* plan, svod_kind kind, size_t index, svod_tensor* tensor);
SVOD_API int svod_plan_variable(const svod_plan* plan, size_t index, svod_variable* variable);
/* Names of the host functions the plan calls, by index; NULL past the end. */
SVOD_API const char* svod_plan_host_function(const svod_plan* plan, size_t index);
/* Names of the devices, by index, the host first; NULL past the end. */
SVOD_API const char* svod_plan_device(const svod_plan* plan, size_t index);

/* ---- Threads
 * ----------------------------------------------------------------------------------------------- */

/* Starts threads - 1 workers: the thread that calls svod_execute works too. 0 means one per processor that
 * this process may use, as its affinity and the quota of its control groups have it. NULL when the system refuses. Its
 * threads begin submitted runs, in their order, and join one run at a time; a run that finds them at another one does
 * all its work on its own thread. */
SVOD_API svod_pool* svod_pool_create(size_t threads);
SVOD_API size_t svod_pool_threads(const svod_pool* pool);
SVOD_API void svod_pool_free(svod_pool* pool);

/* ---- Instances
 * --------------------------------------------------------------------------------------------- */

/* A tensor that a host function reads or fills: dense, at the shape it has in this call. */
typedef struct svod_host_argument {
  const char* name; /* for people */
  const char* dtype;
  size_t element_bytes;
  size_t rank;
  const uint64_t* shape;
  void* data;
  uint64_t bytes;
  int written; /* the function fills it; the others must stay as they are */
} svod_host_argument;

/* One call, as `custom` in a graph says it: the result, then the operands; and the sizes of its `values`. */
typedef struct svod_host_call {
  const char* function;
  const svod_host_argument* arguments;
  size_t argument_count;
  const int64_t* values;
  size_t value_count;
} svod_host_call;

/* A function of the application. `call` is valid until it returns. Called on any thread of the pool, at most once at
 * a time for one step of an instance. Nonzero stops the run with exit code 6. */
typedef int (*svod_host_function)(void* user, const svod_host_call* call);

typedef struct svod_host_entry {
  const char* name;
  svod_host_function function;
  void* user;
} svod_host_entry;

/* Where instances get their memory, in place of the system. Called while an instance is created and freed, and before
 * the first step of a run whose sizes need a larger arena than those before (which is released first), on the thread
 * that does so. */
typedef struct svod_memory {
  /* `bytes`, at least 1, aligned to `alignment`, a power of two; any contents. NULL makes creating the instance, or
   * the run, fail. `purpose` is for people: "arena", "states", "scratch", or with `separate` the name of the buffer. */
  void* (*allocate)(void* user, uint64_t bytes, uint64_t alignment, const char* purpose);
  void (*release)(void* user, void* data, uint64_t bytes);
  void* user;
  int separate; /* every intermediate buffer and state in an allocation of its own, aligned for its dtype only:
                   more memory, but a tool that watches allocations sees each access beyond a buffer */
} svod_memory;

/* What a device of the plan is to be, where the instance shall not choose. Devices of kind cuda know
 *   number  of the device on this machine, from 0 on; without it the devices of the plan are 0, 1, ... in their order
 *   driver  a library in place of libcuda.so.1
 *   jit     "off": PTX, which the driver compiles when it is loaded, counts as not there
 *   graphs  "off": steps are given one by one, not as CUDA graphs
 *   wait    "on": every step is waited for, so that an error names the step it happened in
 * and those of kind opencl number, wait, and
 *   loader  a library in place of libOpenCL.so.1
 * and those of kind webgpu number, wait, and
 *   library a file of wgpu-native in place of libwgpu_native.so
 * Each passes over what the others know. */
typedef struct svod_device_option {
  const char* device; /* its name in the plan; NULL: every device */
  const char* name;
  const char* value;
} svod_device_option;

typedef struct svod_instance_options {
  svod_pool* pool;                  /* NULL: runs on the calling thread only */
  const svod_host_entry* functions; /* every function the plan calls must be here */
  size_t function_count;
  int profile;                              /* record times; costs two clock reads per kernel */
  size_t trace_events;                      /* with profile: events kept per thread, the newest win */
  const svod_memory* memory;                /* NULL: the system's; its functions and `user` outlive the instance */
  const svod_device_option* device_options; /* used until the function returns */
  size_t device_option_count;
} svod_instance_options;

/* `options` may be NULL. Allocates everything: a run allocates nothing. States get their first contents. Devices of the
 * plan that are not of the host's kind are opened: libsvod-KIND.so.0 drives them, which is looked for beside the
 * runtime or the program, in a folder lib next to it, and where the loader looks. */
SVOD_API int svod_instance_create(svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                                  svod_error* error);
/* A submitted run, or one in progress on another thread, is stopped, and waited for. Not for functions that it calls.
 */
SVOD_API void svod_instance_free(svod_instance* instance);

/* For people, by index, NULL past the end: what the devices of the instance are and which code they run, and what was
 * done that takes time or memory. Valid until another call for the instance. */
SVOD_API const char* svod_instance_device_text(svod_instance* instance, size_t index);
SVOD_API const char* svod_instance_note(svod_instance* instance, size_t index);
/* The devices of a kind on this machine: a line for each in `text`, which has `room` bytes, cut off where they are too
 * few. Errors: "no-device" where there is no driver for it. */
SVOD_API int svod_list_devices(const char* kind, const svod_device_option* options, size_t count, char* text,
                               size_t room, svod_error* error);

/* Gives a variable its value, until it is cleared. Variables that are whole dimensions of an input, or the only unknown
 * one in a dimension such as 8*k or past + seq, need none: the bound shape gives it. */
SVOD_API int svod_set_variable(svod_instance* instance, size_t index, int64_t value, svod_error* error);
SVOD_API void svod_clear_variable(svod_instance* instance, size_t index);

/* Lends the caller's memory, without a copy, until another binding; it must stay valid through svod_execute, or
 * svod_wait. `data` is aligned for its dtype. `dtype` may be NULL (not checked), and `shape` where `rank` is 0. A shape
 * with a zero needs no data. */
SVOD_API int svod_bind_input(svod_instance* instance, size_t index, const char* dtype, const uint64_t* shape,
                             size_t rank, const void* data, svod_error* error);
/* `bytes` is the room at `data`; at least what svod_get_shape says is needed for the run. It must not overlap
 * any other bound memory. Where only the run can tell how large an output NAME is, that is the largest case, and the
 * output NAME.length, i64 with an entry per axis, then holds how much of it was filled. */
SVOD_API int svod_bind_output(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error);

/* The same for memory of a device of the plan, where a value is already or is to stay between runs: `data` is an
 * address there. Only where the plan does nothing with the input but copy it to that device, or with the output but
 * copy it from there; then no byte of it goes by the host. A device that the instance runs on the host itself has the
 * host's addresses. */
SVOD_API int svod_bind_device_input(svod_instance* instance, size_t index, size_t device, const char* dtype,
                                    const uint64_t* shape, size_t rank, const void* data, svod_error* error);
SVOD_API int svod_bind_device_output(svod_instance* instance, size_t index, size_t device, void* data, uint64_t bytes,
                                     svod_error* error);

/* The value or shape under the current variables and input bindings, all of which are checked here.
 * `shape` gets rank numbers; `shape` and `bytes` may be NULL. Not for SVOD_VARIABLE. */
SVOD_API int svod_get_variable(svod_instance* instance, size_t index, int64_t* value, svod_error* error);
SVOD_API int svod_get_shape(svod_instance* instance, svod_kind kind, size_t index, uint64_t* shape, uint64_t* bytes,
                            svod_error* error);

/* The memory of a state: may be read and written between runs. NULL when there is no such index, and for a state that
 * a device of the instance holds. svod_read_state and
 * svod_write_state copy all of any state, between runs; `bytes` is its max_bytes. */
SVOD_API void* svod_state_data(svod_instance* instance, size_t index);
SVOD_API int svod_read_state(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error);
SVOD_API int svod_write_state(svod_instance* instance, size_t index, const void* data, uint64_t bytes,
                              svod_error* error);
/* Moves a state, with what it holds, to `data` on a device of the plan, where it stays between runs, or with device 0
 * back to memory of the instance. Only to the device that the plan has it on, or, as for inputs and outputs, where the
 * plan does nothing with it but copy it to and from that device. `data` has room for its max_bytes. */
SVOD_API int svod_bind_device_state(svod_instance* instance, size_t index, size_t device, void* data,
                                    svod_error* error);
/* Gives all states their first contents again; those on devices get them at the beginning of the next run. */
SVOD_API void svod_reset_states(svod_instance* instance);

typedef struct svod_execute_options {
  uint64_t order_seed; /* not 0: independent steps run in an order drawn from it. For tests; the result is the
                          same */
} svod_execute_options;

/* Runs the plan once. Everything is checked before the first kernel starts, but for what the plan expects of values in
 * the inputs ("input-mismatch" then), which the run itself computes. After an error while running, outputs and states
 * are undefined and the instance can be used again. `options` may be NULL. */
SVOD_API int svod_execute(svod_instance* instance, const svod_execute_options* options, svod_error* error);

/* svod_execute that returns when the work is given to the devices, before it is done. Runs are done in the order in
 * which they were given, so any number may be under way; between them everything else may be called, and sees what it
 * would see if each had been waited for: other memory may be bound, variables set, states read (which waits), and
 * svod_execute waits for all. What is bound to a run must stay valid until it is done, and memory of the host as it
 * is: outputs there are filled when svod_wait has returned, or what was given to the stream behind the run is done.
 *
 * A failure that is known by then is returned, a later one by the next function that waits: svod_wait says how all
 * runs ended that were enqueued since the last one. Where the host has a part in the run (kernels, functions,
 * conditions, states and expectations there, copies between two devices, profiles, probes), it is waited for; so is a
 * run without devices. svod_stop does not take back what was given. */
SVOD_API int svod_enqueue(svod_instance* instance, const svod_execute_options* options, svod_error* error);

/* Everything that the instance gives to the device from here on goes into `stream`: of devices of kind cuda a CUstream
 * or cudaStream_t of their primary context, where NULL is the legacy default stream. So a run comes after what the
 * caller gave to it before, and before what is given to it later, and nobody waits on the host. Streams of the caller
 * are not waited for otherwise: what others compute is given to this stream, or it waits for their event. The stream
 * stays until svod_wait has returned, another one is set, or the instance is freed, and is not being captured while a
 * run is given.
 *
 * SVOD_OWN_STREAM, which is set at first, is a stream of the instance, whose runs wait for what was given to the
 * default stream where memory of the device is bound. The new stream waits for what was given to the one before. Exit
 * code 3 ("unsupported") for devices without streams, 1 for a stream of another device. */
#define SVOD_OWN_STREAM ((void*)-1)
SVOD_API int svod_set_stream(svod_instance* instance, size_t device, void* stream, svod_error* error);

/* Makes a run in progress end early, with exit code 75. From any thread or signal handler; without a run in
 * progress, or when its last step has begun, the next one ends so. A submitted run that waits for events ends in
 * svod_wait, whether they come or not. */
SVOD_API void svod_stop(svod_instance* instance);

/* ---- Submitted runs
 * -------------------------------------------------------------------------------------------- */

/* svod_submit and svod_wait are svod_execute in two halves, and the caller goes on between them: submits runs of other
 * instances, fills the inputs of the next one. Between them the instance is the run's: only svod_poll, svod_wait,
 * svod_stop and svod_instance_free do something, the others that can fail end with exit code 2. What is bound must
 * stay as it is. Neither allocates.
 *
 * A submitted run is begun by a thread of the pool, or by svod_wait where none has begun it yet. So without a pool, or
 * with one of a single thread, all of it happens in svod_wait. */

/* Events order runs without a thread that waits. An event counts up from 0. */
SVOD_API svod_event* svod_event_create(void); /* NULL when memory ran out */
SVOD_API void svod_event_free(svod_event* event);
SVOD_API void svod_event_add(svod_event* event, uint64_t count);
/* Runs that wait for it now or later end with exit code 75, before their first step; so does svod_event_wait. */
SVOD_API void svod_event_fail(svod_event* event);
/* Back to 0 and not failed. Nothing waits for it. */
SVOD_API void svod_event_reset(svod_event* event);
SVOD_API uint64_t svod_event_count(const svod_event* event);
/* Returns when it has counted so far. Begins no run: one without a pool that is to count it must be in its svod_wait.
 */
SVOD_API int svod_event_wait(svod_event* event, uint64_t count, svod_error* error);

typedef struct svod_event_point {
  svod_event* event;
  uint64_t count;
} svod_event_point;

typedef struct svod_submit_options {
  uint64_t order_seed; /* as in svod_execute_options */
  const svod_event_point*
      after; /* the run begins when all of these are reached; stays as it is until svod_wait returns */
  size_t after_count;
  svod_event* done; /* counts one up when the run has ended well, fails when it ended with an error; may be NULL */
} svod_submit_options;

/* Checks what svod_execute checks before the first kernel, and returns. `options` may be NULL. */
SVOD_API int svod_submit(svod_instance* instance, const svod_submit_options* options, svod_error* error);
/* The end of the submitted run, or of all that were enqueued, and the first error; for its order with others, `done`
 * was counted before. Exit code 2 where there is none: each run is waited for once. */
SVOD_API int svod_wait(svod_instance* instance, svod_error* error);
/* 1 when svod_wait would not wait, or there is nothing to wait for; else 0. */
SVOD_API int svod_poll(const svod_instance* instance);

/* ---- Looking into a run
 * ------------------------------------------------------------------------------------------- */

/* Copies an intermediate to `data` whenever a step of a run has written it, so that the last copy counts; until another
 * call, where NULL ends it. Its elements lie one after the other, and `bytes` is at least its max_bytes; what the run
 * has no bytes for stays as it is. For debugging: such runs go in plan order on one thread. Allocates; the run does
 * not. */
SVOD_API int svod_probe(svod_instance* instance, size_t index, void* data, uint64_t bytes, svod_error* error);
/* The copies in the last run: 0 where none of its steps did anything, as in a loop without trips. */
SVOD_API uint64_t svod_probe_count(const svod_instance* instance, size_t index);

/* ---- Profile
 * ----------------------------------------------------------------------------------------------- */

typedef struct svod_profile_record {
  const char* name; /* of the kernel or function; "copy" */
  const char* kind; /* kernel, copy or call */
  size_t step;
  uint64_t calls;
  uint64_t busy_ns;      /* summed over threads */
  uint64_t wall_ns;      /* from first start to last end of each call, summed */
  uint64_t bytes, flops; /* estimates for all calls together; 0 when unknown */
} svod_profile_record;

typedef struct svod_trace_event {
  const char *name, *kind;
  size_t step;
  uint32_t thread;
  uint64_t start_ns, end_ns; /* of a clock that only moves forward */
  int64_t tile_begin, tile_end;
} svod_trace_event;

/* Totals since creation or reset, one record per step that is no loop. Without profiling there are none. */
SVOD_API size_t svod_profile_count(const svod_instance* instance);
SVOD_API int svod_profile_get(const svod_instance* instance, size_t index, svod_profile_record* record);
/* Events by thread, oldest first. */
SVOD_API size_t svod_trace_count(const svod_instance* instance);
SVOD_API int svod_trace_get(const svod_instance* instance, size_t index, svod_trace_event* event);
SVOD_API uint64_t svod_trace_dropped(const svod_instance* instance);
SVOD_API void svod_profile_reset(svod_instance* instance);

#ifdef __cplusplus
}
#endif
#endif
