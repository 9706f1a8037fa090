// What compiled C may call behind its back. Every library of kernels has its own.
#pragma once
typedef __SIZE_TYPE__ size_t;
#define SVOD_OWN __attribute__((visibility("hidden")))

SVOD_OWN void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  unsigned char* t = to;
  const unsigned char* f = from;
  for (; size >= 8; size -= 8, t += 8, f += 8) {
    unsigned long long eight;
    __builtin_memcpy_inline(&eight, f, 8);
    __builtin_memcpy_inline(t, &eight, 8);
  }
  for (; size != 0; --size) *t++ = *f++;
  return to;
}

SVOD_OWN void* memmove(void* to, const void* from, size_t size) {
  unsigned char* t = to;
  const unsigned char* f = from;
  if (t < f) {
    for (; size != 0; --size) *t++ = *f++;
  } else {
    for (; size != 0; --size) t[size - 1] = f[size - 1];
  }
  return to;
}

SVOD_OWN void* memset(void* to, int value, size_t size) {
  unsigned char* t = to;
  for (; size != 0; --size) *t++ = (unsigned char)value;
  return to;
}

#if defined(__ARM_EABI__)
// By the names of the ABI, which fixes the order of the last two arguments of memset.
#define SVOD_ALIGNED(name, parameters, call) \
  SVOD_OWN void name parameters { call; }    \
  SVOD_OWN void name##4 parameters { call; } \
  SVOD_OWN void name##8 parameters { call; }
SVOD_ALIGNED(__aeabi_memcpy, (void* to, const void* from, size_t size), memcpy(to, from, size))
SVOD_ALIGNED(__aeabi_memmove, (void* to, const void* from, size_t size), memmove(to, from, size))
SVOD_ALIGNED(__aeabi_memset, (void* to, size_t size, int value), memset(to, value, size))
SVOD_ALIGNED(__aeabi_memclr, (void* to, size_t size), memset(to, 0, size))
#endif

SVOD_OWN int memcmp(const void* a, const void* b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (; size != 0; --size, ++x, ++y)
    if (*x != *y) return *x < *y ? -1 : 1;
  return 0;
}
