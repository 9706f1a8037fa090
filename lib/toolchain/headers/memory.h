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

SVOD_OWN int memcmp(const void* a, const void* b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (; size != 0; --size, ++x, ++y)
    if (*x != *y) return *x < *y ? -1 : 1;
  return 0;
}
