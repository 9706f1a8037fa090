/* What an application does: load a plan, bind its own arrays, run, look at the result. `example PLAN` expects
 * inputs x and output y of f32 (n). */
#include <stdio.h>
#include <stdlib.h>
#include <svod/runtime.h>

static int fail(const svod_error* error) {
  fprintf(stderr, "error: %s [%s]\n", error->message, error->code);
  return error->exit_code;
}

int main(int argc, char** argv) {
  svod_plan* plan = NULL;
  svod_instance* instance = NULL;
  svod_instance_options options = {0};
  svod_error error;
  float x[3] = {1, 2, 3}, y[3] = {0, 0, 0};
  const uint64_t shape[1] = {3};
  size_t input, output;
  if (argc != 2) return 2;
  if (svod_plan_load(argv[1], NULL, &plan, &error) != 0) return fail(&error);
  input = svod_plan_find(plan, SVOD_INPUT, "x");
  output = svod_plan_find(plan, SVOD_OUTPUT, "y");
  options.pool = svod_pool_create(2);
  if (svod_instance_create(plan, &options, &instance, &error) != 0 ||
      svod_bind_input(instance, input, "f32", shape, 1, x, &error) != 0 ||
      svod_bind_output(instance, output, y, sizeof y, &error) != 0 || svod_execute(instance, NULL, &error) != 0)
    return fail(&error);
  printf("%g %g %g\n", y[0], y[1], y[2]);
  svod_instance_free(instance);
  svod_pool_free(options.pool);
  svod_plan_free(plan);
  return 0;
}
