// Contents of the buffers of a model over time (an internal header of the room): the interpreter never overwrites, so
// that a reader sees what was there after the last store that it depends on.
#pragma once
#include <map>
#include <vector>

#include "interp/interp.h"
#include "interp/size_values.h"
#include "interp/view.h"

namespace svod {

/// The buffer that a view names elements of.
UOp baseOf(UOp target);

class BufferVersions {
 public:
  BufferVersions(const Model& model, const ModelBindings& bindings);

  /// Makes the version before all stores from the port's binding or initial content, once.
  Status open(UOp buffer, const SizeValues& sizes);
  /// Of an open buffer.
  const View& oldest(UOp buffer) const { return versions_[slotOf(buffer)].front(); }
  const View& newest(UOp buffer) const { return versions_[slotOf(buffer)].back(); }
  /// What `node` sees of an open buffer: the last store to it that any dependency of `node` needed.
  const View& seenBy(UOp node, UOp buffer) const;

  /// The content after `store`.
  void add(UOp store, View content);
  /// Remembers the newest versions at a Range or End: what an iteration starts with, or what a loop left.
  void noteAt(UOp node);
  /// The number of versions of each buffer, and taking out those made since, but for the newest.
  std::vector<size_t> counts() const;
  void forgetSince(std::span<const size_t> counts);

 private:
  static size_t slotOf(UOp buffer) { return buffer.argAs<SlotArg>().slot; }

  const Model& model_;
  const ModelBindings& bindings_;
  std::vector<std::vector<View>> versions_;              // by port; [k] is the buffer after k stores
  std::map<uint32_t, uint32_t> storeIndex_;              // by id of a Store: the version it made
  std::map<uint32_t, std::vector<uint32_t>> versionAt_;  // by id of a Range or End, then by port
};

}  // namespace svod
