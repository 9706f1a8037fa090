// What a plan hands from step to step, in groups by the layers that names tell of: blocks.0.attention.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "report/plan_text.h"
#include "report/report.h"
#include "report/speed.h"

namespace svod {

namespace {

constexpr size_t kOpenNodes = 30;     // that are seen at first, about
constexpr size_t kMostChildren = 40;  // of a group, before they are put into groups by their order
constexpr size_t kChunk = 16;         // the least size of such groups
constexpr size_t kMostLevels = 12;    // of a name; what is below stays in one word
constexpr size_t kSamePorts = 6;      // inputs, outputs or states that stand for themselves

/// `layer1/0.conv` as layer1, 0, conv.
std::vector<std::string> levelsOf(const std::string& name) {
  std::vector<std::string> levels(1);
  for (char c : name) {
    const bool isEnd = (c == '.' || c == '/') && levels.size() < kMostLevels;
    if (!isEnd) levels.back() += c;
    if (isEnd && !levels.back().empty()) levels.emplace_back();
  }
  if (levels.size() > 1 && levels.back().empty()) levels.pop_back();
  return levels;
}

/// Who wrote what is in a buffer, as nodes.
struct Contents {
  std::vector<size_t> writers;
  bool wasRead = false;
};

class FlowMaker {
 public:
  explicit FlowMaker(const Subject& subject) : subject_(subject), plan_(*subject.plan) {
    flow_.title =
        "What runs, and what it hands on; heat is time, thick lines are large values. Click, or press Enter, "
        "to open a group or to see a kernel";
  }

  Flow make() {
    sources();
    steps();
    sinks();
    group();
    openTheFirst();
    return std::move(flow_);
  }

 private:
  std::string bufferLabel(int64_t id) const {
    const BufferDesc& b = plan_.buffers[BufferId(id)];
    return bufferText(plan_, BufferId(id)) + ", " + typeText(b) + ", " + bytesCell(b.bytes).text();
  }

  size_t add(Flow::Node node, std::vector<std::string> path) {
    flow_.nodes.push_back(std::move(node));
    paths_.push_back(std::move(path));
    return flow_.nodes.size() - 1;
  }

  void connect(size_t from, size_t to, int64_t buffer) {
    if (!connected_.insert({from, to, buffer}).second) return;
    flow_.edges.push_back({from, to, bufferLabel(buffer), plan_.buffers[BufferId(buffer)].bytes});
  }

  size_t port(Flow::Kind kind, const std::string& name, BufferId buffer, const std::string& type, size_t count) {
    const std::string words[] = {"input", "state", "output"}, plural = words[static_cast<size_t>(kind)] + "s";
    const std::string what = words[static_cast<size_t>(kind)];
    std::vector<std::string> path;
    if (count > kSamePorts) path = {plural};
    return add({name, what + " " + type, what + " " + name + "\n" + bufferLabel(buffer), kind, 0, -1,
                std::string(kBufferAnchor) + std::to_string(buffer)},
               path);
  }

  void sources() {
    for (const Port& p : plan_.inputs)
      contents_[p.buffer].writers = {
          port(Flow::Kind::Input, p.name, p.buffer, typeText(plan_, p), plan_.inputs.size())};
    for (const State& s : plan_.states)
      contents_[s.buffer].writers = {
          port(Flow::Kind::State, s.name, s.buffer, typeText(plan_.buffers[s.buffer]), plan_.states.size())};
    for (const auto& [buffer, held] : contents_) initial_[buffer] = held.writers[0];
  }

  /// Seconds of no meaning but beside each other.
  std::vector<double> stepTimes() const {
    std::vector<double> times = timesOf(plan_);
    for (size_t i = 0; i < times.size(); ++i) times[i] *= knownNs(subject_, plan_.steps[StepId(i)]);
    return times;
  }

  Flow::Node nodeOf(size_t index) const {
    const Step& step = plan_.steps[StepId(index)];
    Flow::Node node;
    const std::string name = labelOf(plan_, step);
    node.name = name;
    node.anchor = std::string(kStepAnchor) + std::to_string(index);
    node.label = "step " + std::to_string(index) + ": " + name;
    if (const Launch* launch = std::get_if<Launch>(&step.action)) {
      const double time = knownNs(subject_, step);
      node.anchor = kernelAnchor(launch->kernel);
      node.label += "\n" + plan_.kernels[launch->kernel].name;
      node.detail = classOf(subject_, launch->kernel);
      if (time > 0) node.detail += (node.detail.empty() ? "" : ", ") + timeCell(time).text();
      if (node.detail.empty()) node.detail = "kernel " + std::to_string(launch->kernel);
    } else if (const Copy* copy = std::get_if<Copy>(&step.action)) {
      node.kind = Flow::Kind::Copy;
      node.detail = "copy of " + toText(copy->bytes, variableNames(plan_)) + " bytes";
    } else if (const Loop* loop = std::get_if<Loop>(&step.action)) {
      node.kind = Flow::Kind::Loop;
      node.detail = "times " + toText(loop->trips, variableNames(plan_)) + (loop->condition ? ", while" : "");
    } else {
      node.kind = Flow::Kind::Call;
      node.detail = "function of the program";
    }
    if (const std::string device = deviceText(plan_, step); !device.empty()) node.detail += " on " + device;
    if (!node.detail.empty()) node.label += "\n" + node.detail;
    return node;
  }

  void steps() {
    const std::vector<double> times = stepTimes();
    double total = 0;
    for (double t : times) total += t;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      while (!loops_.empty() && i >= loops_.back().end) endLoop();
      Flow::Node node = nodeOf(i);
      node.share = total > 0 ? times[i] / total : 0;
      std::vector<std::string> path;
      for (const OpenLoop& open : loops_) path.push_back(open.name);
      if (const Loop* loop = std::get_if<Loop>(&plan_.steps[StepId(i)].action)) {
        loops_.push_back({node.name, i + 1 + loop->length, {}, {}});
        path.push_back(node.name);
      } else {
        for (const std::string& level : levelsOf(node.name)) path.push_back(level);
        node.name = path.back(), path.pop_back();
      }
      touch(add(std::move(node), std::move(path)), plan_.steps[StepId(i)]);
    }
    while (!loops_.empty()) endLoop();
  }

  void touch(size_t node, const Step& step) {
    StepUse use = useOf(plan_, step);
    if (const Loop* loop = std::get_if<Loop>(&step.action); loop != nullptr && loop->condition)
      use.reads.push_back(*loop->condition);
    for (int64_t id : use.reads) {
      for (size_t writer : contents_[id].writers)
        if (writer != node) connect(writer, node, id);
      contents_[id].wasRead = true;
      for (OpenLoop& open : loops_) open.reads.emplace_back(id, node);
    }
    for (int64_t id : use.writes) {
      Contents& held = contents_[id];
      // Writers one after the other, with nobody who reads between them, write parts of a value.
      if (held.wasRead || (initial_.contains(id) && held.writers == std::vector{initial_[id]})) held.writers.clear();
      held.writers.push_back(node), held.wasRead = false;
      for (OpenLoop& open : loops_) open.writes.emplace_back(id, node);
    }
  }

  /// What an iteration leaves, the next one reads.
  void endLoop() {
    for (const auto& [id, reader] : loops_.back().reads)
      for (size_t writer : contents_[id].writers)
        if (writer >= reader && std::ranges::count(loops_.back().writes, std::pair{id, writer}) > 0)
          connect(writer, reader, id);
    loops_.pop_back();
  }

  void sinks() {
    for (const Port& p : plan_.outputs)
      sink(Flow::Kind::Output, p.name, p.buffer, typeText(plan_, p), plan_.outputs.size());
    for (const State& s : plan_.states)
      if (contents_[s.buffer].writers != std::vector{initial_[s.buffer]})
        sink(Flow::Kind::State, "next " + s.name, s.buffer, typeText(plan_.buffers[s.buffer]), plan_.states.size());
  }

  void sink(Flow::Kind kind, const std::string& name, BufferId buffer, const std::string& type, size_t count) {
    const size_t node = port(kind, name, buffer, type, count);
    if (!paths_[node].empty() && kind == Flow::Kind::State) paths_[node] = {"next states"};
    for (size_t writer : contents_[buffer].writers) connect(writer, node, buffer);
  }

  struct Branch {
    std::string name;
    std::map<std::string, size_t> named;            // groups in it
    std::vector<std::pair<bool, size_t>> children;  // whether it is a group, and which; in the order of things
  };

  /// Groups as names tell, without those that hold one thing alone, and no group with very many.
  void group() {
    std::vector<Branch> branches(1);
    for (size_t node = 0; node < paths_.size(); ++node) {
      size_t at = 0;
      for (const std::string& level : paths_[node]) {
        auto [found, isNew] = branches[at].named.try_emplace(level, branches.size());
        const size_t next = found->second;
        if (isNew) {
          branches[at].children.emplace_back(true, next);
          branches.push_back({level, {}, {}});
        }
        at = next;
      }
      branches[at].children.emplace_back(false, node);
    }
    for (size_t i = branches.size(); i-- > 1;)  // children come after their parents
      while (branches[i].children.size() == 1 && branches[i].children[0].first) {
        const size_t only = branches[i].children[0].second;
        branches[i].name += "." + branches[only].name;
        branches[i].children = std::move(branches[only].children);
      }
    emit(branches, 0, -1, "");
  }

  void emit(const std::vector<Branch>& branches, size_t at, int parent, const std::string& prefix) {
    const auto& children = branches[at].children;
    const bool isMuch = children.size() > kMostChildren;
    const size_t size = std::max(kChunk, static_cast<size_t>(std::sqrt(static_cast<double>(children.size()))));
    int chunk = parent;
    for (size_t i = 0; i < children.size(); ++i) {
      if (isMuch && i % size == 0)
        chunk = addGroup(std::to_string(i) + " to " + std::to_string(std::min(i + size, children.size()) - 1), parent);
      const auto [isGroup, which] = children[i];
      if (!isGroup) {
        flow_.nodes[which].group = chunk;
        flow_.nodes[which].name = prefix + flow_.nodes[which].name;
      } else if (branches[which].children.size() == 1) {
        emit(branches, which, chunk, prefix + branches[which].name + ".");
      } else {
        emit(branches, which, addGroup(prefix + branches[which].name, chunk), "");
      }
    }
  }

  int addGroup(const std::string& name, int parent) {
    flow_.groups.push_back({name, parent, false});
    return static_cast<int>(flow_.groups.size()) - 1;
  }

  /// From the outermost on, as long as what is seen stays little. A page for paper and small screens: the rest opens by
  /// hand.
  void openTheFirst() {
    std::vector<size_t> children(flow_.groups.size() + 1);
    for (const Flow::Node& n : flow_.nodes) ++children[static_cast<size_t>(n.group + 1)];
    for (const Flow::Group& g : flow_.groups) ++children[static_cast<size_t>(g.parent + 1)];
    size_t seen = children[0];
    for (std::vector<int> level = {-1}; !level.empty();) {
      std::vector<int> next;
      for (size_t g = 0; g < flow_.groups.size(); ++g) {
        if (std::ranges::find(level, flow_.groups[g].parent) == level.end()) continue;
        const size_t more = children[g + 1] - 1;
        if (seen + more > kOpenNodes) continue;
        seen += more;
        flow_.groups[g].isOpen = true;
        next.push_back(static_cast<int>(g));
      }
      level = std::move(next);
    }
  }

  struct OpenLoop {
    std::string name;
    size_t end;                                             // the first step behind it
    std::vector<std::pair<int64_t, size_t>> reads, writes;  // buffer and node
  };

  const Subject& subject_;
  const Plan& plan_;
  Flow flow_;
  std::vector<std::vector<std::string>> paths_;  // of nodes
  std::map<int64_t, Contents> contents_;         // by buffer
  std::map<int64_t, size_t> initial_;            // who had it before the run: inputs and states
  std::set<std::tuple<size_t, size_t, int64_t>> connected_;
  std::vector<OpenLoop> loops_;
};

}  // namespace

Section flowOf(const Subject& subject) {
  Section section{"flow", "Data flow"};
  section.blocks.push_back(FlowMaker(subject).make());
  return section;
}

}  // namespace svod
