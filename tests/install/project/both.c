/* Two libraries of one graph, each under the name of its target. */
#include <stdio.h>

#include "first.h"
#include "second-c.h"

static _Alignas(64) unsigned char arena[FIRST_ARENA_BYTES + SECOND_C_ARENA_BYTES];

int main(void) {
  const float x[FIRST_X_ELEMENTS] = {1, 2, 3};
  float y[FIRST_Y_ELEMENTS], z[SECOND_C_Y_ELEMENTS];
  if (first_run(x, y, arena, 0) != SVOD_MODEL_OK || second_c_run(x, z, arena, 0) != SVOD_MODEL_OK) return 1;
  printf("%g %g %g\n", (double)y[0], (double)z[1], (double)y[2]);
  return 0;
}
