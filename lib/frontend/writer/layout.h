// Which definitions a file needs, and where they stand: every value once, before its first use, in the order in which
// it was built, in a body that all its users see.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "frontend/writer/definitions.h"

namespace svod {

/// A definition that is needed.
struct Item {
  const Definition* definition = nullptr;
  uint32_t at = UINT32_MAX;   // when it was built: the least id of the results that are needed
  std::vector<UOp> wanted;    // results that somebody uses
  std::vector<Item*> users;   // one entry per use
  std::vector<size_t> roots;  // steps that use it, one entry per use
  int scope = 0;              // where it stands
  size_t before = 0;          // the position in Layout::steps it stands before
};

class Layout {
 public:
  Layout(const BuildLog& log, Definitions& definitions, const Model& model);
  Status make();

  /// The steps that are statements, in order.
  const std::vector<const BuildLog::Step*>& steps() const { return steps_; }
  /// The items that stand before steps()[i], in order; i may be the number of steps.
  std::vector<Item*> itemsBefore(size_t i) const;
  Item* itemOf(UOp node) const;
  /// Whether somebody reads the port.
  bool reads(uint32_t slot) const { return slots_.contains(slot); }
  /// Whether the value depends on what a state or temporary holds.
  bool readsStorage(UOp node);

 private:
  struct Scope {
    int outer;
    size_t begin;  // the step that opens it
  };
  void findScopes();
  int scopeAt(uint32_t id) const;
  int common(int a, int b) const;
  Status need(UOp node, size_t step);
  Status needInPlace(UOp node, size_t step);
  Status needLabelled();
  Status settle();
  void place();

  const BuildLog& log_;
  Definitions& definitions_;
  const Model& model_;
  std::vector<const BuildLog::Step*> steps_;
  std::vector<int> scopeBefore_, scopeBehind_;  // of each step
  std::vector<Scope> scopes_{{-1, 0}};
  std::map<const Definition*, std::unique_ptr<Item>> items_;  // looked up only
  std::vector<Item*> order_;                                  // by `at`
  std::vector<Item*> pending_;
  std::set<uint32_t> slots_;
  bool hasStorage_ = false;  // whether the model has states or temporaries
  std::map<uint32_t, bool> readsStorage_;
};

}  // namespace svod
