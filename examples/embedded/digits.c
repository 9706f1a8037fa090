/* Reads one handwritten digit with the network of examples/digits, built into the program: no file is read but the
 * image. */
#include "digits.h"

#include <stdio.h>

static _Alignas(64) unsigned char arena[DIGITS_ARENA_BYTES];

int main(int argc, char** argv) {
  float image[8][8], probability[DIGITS_PROBABILITY_DIM1];
  int32_t digit = 0;
  const char* shades = argc > 1 ? argv[1] : "";
  /* 64 characters, row by row, from ' ' for white over '.' and 'o' to '#' for black */
  for (int i = 0; i < 64; ++i) {
    const char c = *shades != 0 ? *shades++ : ' ';
    image[i / 8][i % 8] = c == '#' ? 1.0f : c == 'o' ? 0.6f : c == '.' ? 0.3f : 0.0f;
  }
  const int32_t code = digits_run(1, &image[0][0], probability, &digit, arena, 0);
  if (code != SVOD_MODEL_OK) {
    fprintf(stderr, "the network ended with code %d\n", (int)code);
    return 1;
  }
  printf("%d with %.0f %%\n", (int)digit, 100.0 * (double)probability[digit]);
  return 0;
}
