// The parts of a data flow: what is handed on, and groups of nodes (an internal header of the room).
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/document.h"

namespace svod {

/// Who wrote what is in each buffer, while steps are walked in their order: an edge for each reader of what a node
/// wrote.
class Handover {
 public:
  struct Edge {
    size_t from, to;  // nodes
    int64_t buffer;
  };

  /// The node has the buffer before the run, and after it.
  void begin(int64_t buffer, size_t node) { contents_[buffer].writers = {node}, initial_[buffer] = node; }
  void end(int64_t buffer, size_t node);

  void read(int64_t buffer, size_t node);
  void write(int64_t buffer, size_t node);
  void enterLoop() { loops_.emplace_back(); }
  /// What an iteration leaves, the next one reads.
  void leaveLoop();

  /// Nobody wrote to a buffer that began with a node.
  bool isAsBefore(int64_t buffer) const;
  /// Each once, in the order in which they were found.
  const std::vector<Edge>& edges() const { return edges_; }

 private:
  void connect(size_t from, size_t to, int64_t buffer);

  struct Contents {
    std::vector<size_t> writers;
    bool wasRead = false;
  };
  struct OpenLoop {
    std::vector<std::pair<int64_t, size_t>> reads, writes;  // buffer and node
  };
  std::map<int64_t, Contents> contents_;  // by buffer
  std::map<int64_t, size_t> initial_;     // who had it before the run
  std::vector<OpenLoop> loops_;
  std::set<std::tuple<size_t, size_t, int64_t>> connected_;
  std::vector<Edge> edges_;
};

/// Groups as the paths of nodes tell, without those that hold one thing alone, and no group with very many.
void groupByPaths(Flow& flow, const std::vector<std::vector<std::string>>& paths);

/// From the outermost on, as long as what is seen stays little. A page for paper and small screens: the rest opens by
/// hand.
void openTheFirst(Flow& flow);

}  // namespace svod
