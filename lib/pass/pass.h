// Passes as table rows and the one loop that runs, prints, times, verifies, stops and bisects them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/numerics.h"
#include "support/result.h"

namespace svod {

struct Pass;
struct PassContext;

/// What the user asked to see and check; the same for every pipeline of a compile. Filled from the flag table.
struct PassOptions {
  std::vector<std::string> printBefore = {}, printAfter = {};  // pass names, or "all"
  bool printChanged = false;                                   // after every pass that changed the graph
  bool timePasses = false;
  bool ruleStats = false;
  std::vector<std::string> disabledRules = {};
  std::vector<std::string> disabledPasses = {};  // names of optional passes that are left out
  std::string stopAfter = {};                    // pass name; empty: run everything
  bool verifyEach = false;                       // check the stage's rules before the first and after every pass
  bool checkAccesses =
      true;                  // on every compile: that no load or store is seen to leave its buffer (ir/verify_access.h)
  int64_t bisectLimit = -1;  // run only the first N optional passes of each pipeline; -1: all
  /// Given what a pass returned, before that is printed and verified; what it returns goes on in its place. May be
  /// empty.
  std::function<Result<UOp>(const Pass& pass, UOp root, PassContext& cx)> instrument = {};
};

struct PassTime {
  std::string_view pass;
  double seconds = 0;
  size_t nodesBefore = 0, nodesAfter = 0;  // reachable from the root
};

struct RuleTally {
  uint64_t attempts = 0, hits = 0;
};

/// What happened in one or more pipelines of one job. Not thread-safe: each parallel job has its own, and the driver
/// joins them in job order with add().
struct PassLog {
  std::string text;                                     // printed graphs, each under a `; after NAME` line
  std::vector<PassTime> times;                          // in order of execution; only with timePasses
  std::map<std::string, RuleTally, std::less<>> rules;  // by rule name; only with ruleStats
  std::string lastGood;                                 // .uop text before the pass that failed, empty if none failed
  std::string failedPass;                               // its name
  bool stopped = false;  // stopAfter was reached; what the pipeline returned is not its goal

  void add(const PassLog& other);
};

/// A table of all passes with their calls, time, share and nodes, longest first.
std::string toText(std::span<const PassTime> times);
/// A table of the rules that fired, most hits first.
std::string toText(const std::map<std::string, RuleTally, std::less<>>& rules);

/// What the passes of one job share besides the graph: objects registered by type, owned by the caller.
class PassData {
 public:
  template <class T>
  void put(T& object) {
    items_.push_back({key<T>(), const_cast<void*>(static_cast<const void*>(&object))});
  }
  /// The registered object of exactly this type (const included), or null.
  template <class T>
  T* find() const {
    for (const Item& item : items_)
      if (item.key == key<T>()) return static_cast<T*>(item.object);
    return nullptr;
  }
  /// As find; a pass that needs an object its pipeline does not provide is a programming error and aborts.
  template <class T>
  T& get() const {
    T* object = find<T>();
    if (object == nullptr) missing();
    return *object;
  }

 private:
  struct Item {
    const void* key;
    void* object;
  };
  template <class T>
  static const void* key() {
    static const char tag = 0;
    return &tag;
  }
  [[noreturn]] static void missing();

  std::vector<Item> items_;
};

/// What a pipeline works on, where that is more than a root.
class PassSubject {
 public:
  virtual ~PassSubject() = default;
  virtual std::string text(UOp root, Stage stage) const = 0;
  virtual size_t nodes(UOp root) const = 0;  // how large it is
  virtual Status verify(UOp root, Stage stage) const = 0;
};

struct PassContext {
  Graph& graph;
  PassLog& log;
  const PassOptions& options;
  std::string job;  // name of the kernel, or "graph": shown with everything printed
  Numerics numerics = Numerics::Contract;
  PassData data;
  const PassSubject* subject = nullptr;  // null: the root is all there is
};

struct Pass {
  std::string_view name, what;  // CLI name, kebab-case; the line of --list-passes
  Stage in, out;                // legal graph before and after
  Result<UOp> (*run)(UOp root, PassContext& cx);
  bool optional = false;  // the graph stays correct without it, so --bisect-limit may skip it
};

/// Whether a pass is run, where `optionalBefore` optional passes were.
bool isSkipped(const Pass& pass, int64_t optionalBefore, const PassOptions& options);

/// The options for a pipeline that follows `earlier`: bisectLimit counts through both.
PassOptions optionsAfter(const PassOptions& options, std::span<const Pass> earlier);

/// Runs `passes` in order on `root`. An error carries the name of the pass and of the job; `cx.log.lastGood` then holds
/// the text to reproduce it, `cx.log.failedPass` the name.
Result<UOp> runPipeline(std::span<const Pass> passes, UOp root, PassContext& cx);

}  // namespace svod
