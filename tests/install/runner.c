/* Runs a plan: `runner PLAN REPEAT SHAPE...` reads the inputs, of these shapes such as 2x3, one after the other from
 * standard input, writes the outputs to standard output, and says on standard error whose code ran. */
#include <stdio.h>
#include <stdlib.h>
#include <svod/runtime.h>

static svod_error error;
static void check(int code) {
  if (code == 0) return;
  fprintf(stderr, "%s [%s]\n", error.message, error.code);
  exit(code);
}

static size_t dims(const char* text, uint64_t* shape) {
  size_t rank = 0;
  char* end;
  while (*text >= '0' && *text <= '9') {
    shape[rank++] = strtoull(text, &end, 10);
    text = *end == 'x' ? end + 1 : end;
  }
  return rank;
}

int main(int argc, char** argv) {
  enum { MOST = 16 };
  static void* outputs[MOST];
  static uint64_t sizes[MOST];
  svod_plan* plan;
  svod_instance* instance;
  svod_plan_info info;
  svod_tensor tensor;
  uint64_t shape[MOST];
  size_t i, axis;
  int run;
  if (argc < 3) return 2;
  check(svod_plan_load(argv[1], NULL, &plan, &error));
  svod_plan_get_info(plan, &info);
  if (info.outputs > MOST || (size_t)argc != 3 + info.inputs) return 2;
  check(svod_instance_create(plan, NULL, &instance, &error));
  for (i = 0; i < info.inputs; i++) {
    const size_t rank = dims(argv[3 + i], shape);
    uint64_t bytes;
    void* data;
    svod_plan_tensor(plan, SVOD_INPUT, i, &tensor);
    bytes = tensor.element_bytes;
    for (axis = 0; axis < rank; axis++) bytes *= shape[axis];
    data = malloc(bytes + 1);
    if (data == NULL || fread(data, 1, bytes, stdin) != bytes) return 3;
    check(svod_bind_input(instance, i, NULL, shape, rank, data, &error));
  }
  for (i = 0; i < info.outputs; i++) {
    check(svod_get_shape(instance, SVOD_OUTPUT, i, shape, &sizes[i], &error));
    outputs[i] = malloc(sizes[i] + 1);
    if (outputs[i] == NULL) return 3;
    check(svod_bind_output(instance, i, outputs[i], sizes[i], &error));
  }
  for (run = 0; run < atoi(argv[2]); run++) check(svod_execute(instance, NULL, &error));
  for (i = 0; i < info.outputs; i++) fwrite(outputs[i], 1, sizes[i], stdout);
  fprintf(stderr, "%s\n", info.cpu);
  svod_instance_free(instance);
  svod_plan_free(plan);
  return 0;
}
