// A CUDA driver that runs on the host and believes nothing: every call is checked (what is current, what is alive,
// whose memory, which ABI), work is done late and graphs in any order that their edges allow, memory cannot be touched
// by the program, and any call can be told to fail. What is wrong is written down and ends the process when it exits.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda_grid/calls.h"
#include "runtime-cuda/driver_types.h"

namespace mock {

using namespace svod::cuda;

struct Config {
  int devices = 2, version = 13000, major = 9, minor = 0;
  size_t memoryBytes = size_t{1} << 30;
  int sharedBytes = 232448;
  uint64_t failAt = 0;  // the how many-th call fails; 0: none
  Code failCode = 999;
  std::string failCall;     // or the failAt-th call of this function
  std::string faultKernel;  // a kernel that ends the context when it runs
  Code faultCode = 700;
  Code initCode = 0;
  bool canAccessPeer = true, isEager = false, hasProcAddress = true;
  std::string missing;  // a function that the library does not have
};

struct Allocation {
  char *address = nullptr, *real = nullptr;  // what the program sees cannot be touched
  size_t bytes = 0;
  int device = 0;
};

/// How far each stream is known to have come, by its number.
using Clock = std::map<uint32_t, uint64_t>;

/// One piece of work in a stream. It may first need that other streams come so far. What comes before it, whatever the
/// device does, is in `before`: the pieces of its stream, and those that events or the host waited for.
struct Piece {
  std::function<Code()> work;
  StreamObject* after = nullptr;
  uint64_t count = 0;
  uint32_t stream = 0;
  uint64_t place = 0;
  Clock before = {};
};

/// What a piece did to memory of a device.
struct Access {
  char *begin, *end;
  bool isWrite;
  uint32_t stream;
  uint64_t place;
};

}  // namespace mock

namespace svod::cuda {

struct ContextObject {
  int device = 0, references = 0;
  Code poison = 0;
};
struct StreamObject {
  ContextObject* context;
  std::deque<mock::Piece> queue;
  uint64_t given = 0, done = 0;
  uint32_t number = 0;
  bool isDefault = false, isCaptured = false;
  mock::Clock before = {};  // of the next piece
};
struct EventObject {
  ContextObject* context;
  bool hasTime;
  StreamObject* stream = nullptr;  // null also for the default stream
  bool isRecorded = false;
  uint64_t count = 0;  // of the stream, when it was recorded
  mock::Clock before = {};
  float time = -1;  // when it was reached
};
struct ModuleObject {
  ContextObject* context;
  FunctionObject* function;
};

}  // namespace svod::cuda

namespace mock {

struct MockArg {
  std::string dtype;
  size_t bytes = 0;
  bool isWritten = false;
};
/// What runs a kernel: real addresses of the arguments, then values, and the launch.
struct Launched {
  std::vector<void*> buffers;
  std::vector<int64_t> values;
  unsigned groups[3], threads[3], sharedBytes;
  std::map<size_t, SvodMap> maps;  // in place of an address, as the driver encodes them
};
using Runner = std::function<void(const Launched&)>;

}  // namespace mock

namespace svod::cuda {

struct FunctionObject {
  ContextObject* context;
  std::string name;
  std::vector<mock::MockArg> args;
  std::set<unsigned> maps;  // arguments that are tensor maps
  std::vector<std::string> values;
  int staticBytes = 0, registers = 32, mostThreads = 1024, dynamicBytes = 48 << 10;
  mock::Runner run;
};
/// A node of a graph with what it does, as it was when the node was made or changed.
struct GraphNodeObject {
  GraphObject* graph;
  std::vector<GraphNodeObject*> after;
  bool isKernel;
  MemoryType from, to;  // of a copy
  unsigned cluster[3] = {1, 1, 1};
};
struct GraphObject {
  std::vector<std::unique_ptr<GraphNodeObject>> nodes;
  std::map<const GraphNodeObject*, std::function<Code()>> works;
};
struct GraphExecObject {
  ContextObject* context;
  GraphObject* graph;
  std::map<const GraphNodeObject*, std::function<Code()>> works;
};

}  // namespace svod::cuda

namespace mock {

class Mock {
 public:
  static Mock& get();

  void configure(std::string_view text);
  /// Everything that is wrong and everything that is left, a line each; then none of it is known any more.
  std::string report();

  /// The beginning of every function: counts it and checks what can be. Something: what the function returns at once.
  std::optional<Code> enter(const char* name, bool needsContext = true);
  void wrong(const std::string& what);
  ContextObject* current() const;

  // Under the lock:
  Code launch(StreamObject* stream, std::function<Code()> work);
  Code drain(StreamObject* stream, uint64_t count);
  void runSome();
  Allocation* find(Address address, size_t bytes);
  bool isPinned(const void* memory) const;
  /// The real address of device memory that `context` may use; null, and written down, where it is none.
  char* real(Address address, size_t bytes, const ContextObject* context, const char* what);
  std::optional<std::function<Code()>> kernelWork(FunctionObject* function, const unsigned* groups,
                                                  const unsigned* threads, unsigned sharedBytes, void** parameters,
                                                  ContextObject* context);
  std::optional<std::function<Code()>> copyWork(const CopyNode& node, ContextObject* context, bool isLate);
  Code poison(ContextObject* context, Code code);
  /// The stream that a handle means in the context: the default ones have handles that are numbers. Null, and written
  /// down, where it is none, or one of another context.
  StreamObject* streamOf(StreamObject* handle, ContextObject* context);
  StreamObject* newStream(ContextObject* context);
  /// The host waited until the stream had done so much.
  void hostWaited(StreamObject* stream, uint64_t count, const Clock& before);
  /// The piece that is running reads or writes; what another one may do at the same time is written down.
  void touch(Address address, size_t bytes, bool isWrite);

  std::recursive_mutex mutex;
  Config config;
  bool isStarted = false;
  uint64_t calls = 0, callsOfName = 0;
  std::map<std::string, uint64_t> counts;  // of calls by name
  std::vector<std::string> faults;
  std::map<int, std::unique_ptr<ContextObject>> contexts;
  std::map<char*, Allocation> memory;
  std::map<char*, size_t> pinned;
  size_t used[16] = {};
  std::map<StreamObject*, std::unique_ptr<StreamObject>> streams;
  std::map<EventObject*, std::unique_ptr<EventObject>> events;
  std::map<ModuleObject*, std::unique_ptr<ModuleObject>> modules;
  std::map<FunctionObject*, std::unique_ptr<FunctionObject>> functions;
  std::map<GraphObject*, std::unique_ptr<GraphObject>> graphs;
  std::map<GraphExecObject*, std::unique_ptr<GraphExecObject>> execs;
  std::set<std::pair<ContextObject*, ContextObject*>> peers;
  std::map<std::pair<ContextObject*, uintptr_t>, StreamObject*> defaults;  // default streams by context and handle
  uint32_t streamNumbers = 0;
  Clock host;                                     // what the host has waited for
  const Piece* running = nullptr;                 // now
  std::map<char*, std::vector<Access>> accesses;  // by allocation
  std::mt19937 random{7};
  float clock = 0;
};

/// Reads an image of the mock: "mock cubin ARCH BYTES" or "mock ptx ARCH BYTES", lines that describe the kernel, and
/// how it runs.
bool readImage(std::string_view image, FunctionObject& function, std::string& arch, bool& isPtx);

}  // namespace mock
