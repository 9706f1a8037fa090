/* Runs the plan PLAN, which has an input x and an output y of f32 [3], on 1 2 3. */
#include <stdio.h>
#include <svod/runtime.h>

int main(void) {
  svod_plan* plan = NULL;
  svod_instance* instance = NULL;
  svod_error error;
  const uint64_t shape[] = {3};
  float x[3] = {1, 2, 3}, y[3] = {0, 0, 0};
  if (svod_plan_load(PLAN, NULL, &plan, &error) != 0 || svod_instance_create(plan, NULL, &instance, &error) != 0 ||
      svod_bind_input(instance, svod_plan_find(plan, SVOD_INPUT, "x"), "f32", shape, 1, x, &error) != 0 ||
      svod_bind_output(instance, svod_plan_find(plan, SVOD_OUTPUT, "y"), y, sizeof y, &error) != 0 ||
      svod_execute(instance, NULL, &error) != 0) {
    fprintf(stderr, "%s [%s]\n%s\n", error.message, error.code, error.help);
    return error.exit_code;
  }
  printf("%g %g %g\n", y[0], y[1], y[2]);
  svod_instance_free(instance);
  svod_plan_free(plan);
  return 0;
}
