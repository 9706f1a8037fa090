// A launch on an emulated grid: the threads of each workgroup are fibers that meet at barriers and, by warps, at
// collective instructions; copies are under way until they are waited for; every access is checked.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cuda_grid/calls.h"
#include "cuda_grid/fiber.h"
#include "cuda_grid/order.h"

namespace svod {

/// When what may happen later happens: at once, with threads in their order; as late as it can, with threads in the
/// opposite one; drawn, with threads in any.
enum class Delay : uint8_t { Eager, Lazy, Random };

struct GridOptions {
  Delay delay = Delay::Random;
  uint32_t seed = 1;
};

/// An argument: memory of the device.
struct GridBuffer {
  void* address = nullptr;
  uint64_t bytes = 0;
  bool isWritten = false;
};

struct GridLaunch {
  using Function = void (*)(...);
  void (*function)() = nullptr;
  std::vector<GridBuffer> buffers;
  std::vector<int64_t> values;
  std::map<size_t, SvodMap> maps;  // in place of the address of a buffer
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::array<uint64_t, 3> threads = {1, 1, 1};
  uint64_t sharedBytes = 0;
};

class EmulatedGrid {
 public:
  explicit EmulatedGrid(GridOptions options);
  EmulatedGrid(const EmulatedGrid&) = delete;

  /// "eager", "lazy" or "random", with the seed.
  std::string mode() const;
  /// To be given to the code of a kernel before it runs; valid as long as the grid.
  const SvodCalls* calls() const { return &calls_; }

  /// "" or the first fault: RACE, UNINITIALIZED, PROXY, FENCE, MBARRIER, UNFINISHED, OUTSIDE, DIVERGENCE, DEADLOCK,
  /// ALIGNMENT.
  std::string run(const GridLaunch& launch);

 private:
  struct Copy {
    unsigned char* to;
    const unsigned char* from;
    uint32_t bytes;
    bool isReal;
    Knowledge knows;  // when it was started
    uint32_t moment;
  };
  struct CopyGroup {
    uint32_t number = 0;
    std::vector<Copy> left;  // not done yet
  };
  struct Thread {
    explicit Thread(std::function<void()> body) : fiber(std::move(body)) {}
    Fiber fiber;
    uint32_t number = 0;  // in the workgroup
    std::array<uint32_t, 3> at{};
    const char* waitsAt = nullptr;
    const void* waitsFor = nullptr;  // an mbarrier
    int parity = 0;                  // of its phase
    Knowledge knows;
    CopyGroup open;
    std::deque<CopyGroup> groups;
    uint32_t fencedAt = 0;         // stores up to this moment are seen by products, behind a barrier
    std::vector<uint32_t> waited;  // groups of its copies that are there, with no such fence yet
  };
  /// What one thread of a meeting gives, and gets.
  struct Part {
    Thread* thread;
    const void *a, *b, *c;
    void* out;
  };
  struct Meeting {
    const char* what = nullptr;
    uint32_t generation = 0;
    std::vector<Part> parts;
  };

  struct Product {
    float* sums;  // of the first lane
    uint64_t a, b;
    int turned, columns;
    bool isBfloat;
    Knowledge knows;  // of all threads when it was started
    uint32_t moment;
  };
  struct ProductGroup {
    uint32_t number = 0;
    std::vector<Product> left;  // not done yet
    std::vector<float*> adds;   // for each product
  };
  /// Registers of a warpgroup to which products add.
  struct Sums {
    std::vector<float*> lanes;
    std::vector<float> values;
    int pending = 0;
  };
  struct Warpgroup {
    Meeting meeting;
    bool isFenced = false;
    ProductGroup open;
    std::deque<ProductGroup> groups;
    std::map<float*, Sums> sums;
  };

  struct BulkCopy {
    unsigned char* to;
    const SvodMap* map;
    const void* bar;
    std::array<int, 5> at;
    const Thread* starter;
    Knowledge knows;  // when it was started
    uint32_t moment, number;
  };
  struct Mbarrier {
    const Thread* maker;
    uint32_t madeAt;
    int64_t arrivals, missing, bytes;  // of each phase; left in this one; expected and not there
    int parity = 0;
    Knowledge arrived, over;  // in this phase; in all that are over
  };

  // grid.cpp
  void runGroup(const std::array<uint32_t, 3>& group);
  std::vector<size_t> order();
  bool goOn(std::vector<size_t>& order);
  void callKernel();
  [[noreturn]] void fault(const std::string& what);
  template <class Last>
  void meet(Meeting& meeting, size_t size, const char* what, Part part, Last last);
  std::string waiting() const;
  void global(const void* at, uint32_t bytes, const void* stored);
  void shared(const void* at, uint32_t bytes, const void* stored);
  void barrier();
  Access accessOf(const Thread& thread) const;
  void touchShared(const void* at, uint32_t bytes, bool writes, const Access& access, const char* what);
  void touchGlobal(const void* at, uint32_t bytes, const void* stored, Access access, const char* what);

  // warp.cpp
  template <class Last>
  void meetWarp(const char* what, Part part, bool isWhole, Last last);
  void mma(const char* core, const void* a, const void* b, const void* c, void* out);
  void shuffle(uint32_t mask, uint32_t named, const void* value, uint32_t bytes, void* out);
  void matrices(int count, bool isTransposed, const void* row, uint32_t* out);

  // copies.cpp
  void copy(void* to, const void* from, uint32_t bytes, bool isReal);
  void commit();
  void wait(int groups);
  void perform(const Thread& thread, const CopyGroup& group, const Copy& copy);
  bool isNow();
  void finishCopies();

  // products.cpp
  template <class Last>
  void meetWarpgroup(const char* what, Part part, Last last);
  void fence();
  void fenceSums();
  void commitProducts();
  void product(const char* core, float* sums, uint64_t a, uint64_t b, int turned);
  void performProducts(Warpgroup& group, bool all);
  struct RowsOf {
    int first, end;
  };
  void readFactor(uint64_t bits, bool isTurned, RowsOf rows, const Access& access, uint16_t* to);
  uint32_t numberOfGroup();
  void perform(Warpgroup& group, uint32_t number, const Product& product);
  void waitProducts(float* sums, int groups);
  static void settle(Warpgroup& group, float* first);

  // bulk.cpp
  bool elect();
  void makeMbarrier(const void* bar, int arrivals);
  Mbarrier& mbarrierAt(const void* bar, const char* what);
  void expect(const void* bar, int bytes);
  void waitPhase(const void* bar, int parity);
  void bulkLoad(void* to, const SvodMap* map, const void* bar, int dims, const int* at);
  void checkMap(const SvodMap& map, int dims, const void* to);
  void perform(const BulkCopy& copy);
  void performBulk(size_t position);
  void advance(Mbarrier& mbarrier);

  SvodCalls makeCalls();

  const GridOptions options_;
  std::mt19937 random_;
  const SvodCalls calls_;
  const GridLaunch* launch_ = nullptr;
  std::array<uint32_t, 3> group_{};
  uint32_t firstThread_ = 0;  // of the workgroup, counted over the launch
  std::vector<Thread> threads_;
  Thread* current_ = nullptr;
  std::vector<unsigned char> memory_;  // of the workgroup
  unsigned char* sharedBase_ = nullptr;
  std::optional<Shadow> sharedShadow_;
  std::vector<Shadow> globalShadows_;  // by buffer
  Meeting all_;
  std::vector<Meeting> warps_;
  std::vector<Warpgroup> warpgroups_;
  uint32_t moment_ = 1, copyGroups_ = 0;
  std::map<const void*, Mbarrier> mbarriers_;
  std::vector<BulkCopy> bulk_;  // not done yet
  std::string fault_;
  bool moved_ = false, isStuck_ = false;  // in this round; in the last one
};

}  // namespace svod
