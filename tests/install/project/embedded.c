/* Calls the graph, whose input x and output y are f32 [3], as a function on 1 2 3. */
#include <stdio.h>

#include "model.h"

static _Alignas(64) unsigned char arena[TWICE_ARENA_BYTES];

int main(void) {
  const float x[3] = {1, 2, 3};
  float y[3];
  if (twice_run(x, y, arena, 0) != SVOD_MODEL_OK) return 1;
  printf("%g %g %g\n", (double)y[0], (double)y[1], (double)y[2]);
  return 0;
}
