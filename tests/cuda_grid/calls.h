/* What the text of a kernel calls on the emulated grid: C for the kernels, C++ for the grid. */
#pragma once
#include <stdint.h>

/* What a tensor map says, in its 128 bytes; dims are counted from the innermost. */
struct SvodMap {
  const void* address;
  uint64_t strides[4]; /* bytes, of all dims but the first */
  uint32_t extents[5];
  uint16_t box[5];
  uint8_t dims, elementBytes, swizzle;
};

struct SvodCalls {
  void* grid;                              /* the first argument of all of them */
  uint32_t (*place)(void* grid, int axis); /* 0 to 2 of the workgroup, 3 to 5 of the thread */
  /* An access that is about to happen: of `stored`, or a load where that is null. */
  void (*global)(void* grid, const void* at, uint32_t bytes, const void* stored);
  void (*shared)(void* grid, const void* at, uint32_t bytes, const void* stored);
  unsigned char* (*memory)(void* grid, uint32_t bytes); /* of the workgroup */
  void (*barrier)(void* grid);
  /* Of the lanes of a warp together: `a` and `b` are what a lane gives, `out` what it gets. */
  void (*mma)(void* grid, const char* core, const void* a, const void* b, const void* c, void* out);
  void (*shuffle)(void* grid, uint32_t mask, uint32_t lanes, const void* value, uint32_t bytes, void* out);
  void (*matrices)(void* grid, int count, int isTransposed, const void* row, uint32_t* out);
  /* Copies that are under way until they are waited for. */
  void (*copy)(void* grid, void* to, const void* from, uint32_t bytes, int isReal);
  void (*commit)(void* grid);
  void (*wait)(void* grid, int groups);
  /* Products of warpgroups: factors are what the descriptors of wgmma say. */
  uint32_t (*address)(void* grid, const void* shared); /* from the first byte of the workgroup's memory */
  void (*fence)(void* grid);                           /* what was stored is seen by products */
  void (*fenceSums)(void* grid);
  void (*product)(void* grid, const char* core, float* sums, uint64_t a, uint64_t b, int turned);
  void (*commitProducts)(void* grid);
  void (*waitProducts)(void* grid, float* sums, int groups);
  /* Mbarriers, and bulk copies that arrive at them. */
  int (*elect)(void* grid);
  void (*makeMbarrier)(void* grid, uint64_t* bar, int arrivals);
  void (*expect)(void* grid, uint64_t* bar, int bytes);
  void (*waitPhase)(void* grid, uint64_t* bar, int parity);
  void (*bulkLoad)(void* grid, void* to, const struct SvodMap* map, uint64_t* bar, int dims, const int* at);
  double (*math)(void* grid, int function, double x, double y, double z); /* SvodMath, exact for floats as well */
};

enum SvodMath {
  SvodFma,
  SvodFmaf,
  SvodTrunc,
  SvodFloor,
  SvodCeil,
  SvodRound,
  SvodSqrt,
  SvodSqrtf,
  SvodToHalf,
  SvodFromHalf,
  SvodExp2,
  SvodReciprocal,
  SvodMax,
  SvodMin,
  SvodFmaSat,
  SvodToBf16,
  SvodToF8e4m3,
  SvodToF8e5m2,
  SvodFromF8e4m3
};
