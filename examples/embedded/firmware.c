/* A Cortex-M4 that reads a digit: no operating system, no C library. The weights stay in flash, where the linker script
   puts .weights; the arena is the only large thing in RAM. qemu-system-arm shows what is written by semihosting. */
#include <stddef.h>

#include "digits.h"

extern uint32_t stack_top, data_load, data_begin, data_end, bss_begin, bss_end;

static _Alignas(64) unsigned char arena[DIGITS_ARENA_BYTES];
static float probability[DIGITS_PROBABILITY_DIM1];

/* The first image of examples/digits/samples.npy, a 6: shades from 0 to 16. */
static const unsigned char six[64] = {0, 0, 1,  13, 7,  0, 0,  0,  0, 0,  7,  14, 2,  0,  0,  0,  0,  0,  13, 5, 0,  0,
                                      0, 0, 0,  0,  16, 3, 0,  0,  0, 0,  0,  3,  16, 10, 12, 12, 3,  0,  0,  3, 16, 11,
                                      5, 9, 12, 0,  0,  1, 13, 11, 4, 13, 11, 0,  0,  0,  1,  12, 16, 11, 2,  0};

/* What compilers call for copies, where there is no C library. */
void* memset(void* to, int byte, size_t count);
void* memcpy(void* restrict to, const void* restrict from, size_t count);
void* memset(void* to, int byte, size_t count) {
  volatile unsigned char* p = to;
  while (count-- > 0) *p++ = (unsigned char)byte;
  return to;
}
void* memcpy(void* restrict to, const void* restrict from, size_t count) {
  volatile unsigned char* p = to;
  const unsigned char* q = from;
  while (count-- > 0) *p++ = *q++;
  return to;
}

static void semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

int main(void);
int main(void) {
  float image[64];
  int32_t digit = -1;
  char text[] = "digit ?\n";
  for (int i = 0; i < 64; ++i) image[i] = (float)six[i] / 16.0f;
  if (digits_run(image, probability, &digit, arena, 0) != SVOD_MODEL_OK) return 1;
  text[6] = (char)('0' + digit);
  semihost(0x04, text); /* SYS_WRITE0 */
  return 0;
}

void reset(void);
void reset(void) {
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20; /* the floating point unit is on */
  __asm__ volatile("dsb\nisb");
  for (uint32_t *to = &data_begin, *from = &data_load; to < &data_end;) *to++ = *from++;
  for (uint32_t* to = &bss_begin; to < &bss_end;) *to++ = 0;
  const uint32_t exit[2] = {main() == 0 ? 0x20026u : 0x20023u, 0}; /* ADP_Stopped_ApplicationExit, RunTimeError */
  semihost(0x18, (const void*)(uintptr_t)exit[0]);                 /* SYS_EXIT */
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const void* const vectors[] = {&stack_top,
                                                                                 (const void*)(uintptr_t)&reset};
