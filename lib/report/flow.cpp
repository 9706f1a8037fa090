// What a plan hands from step to step, in groups by the layers that names tell of: blocks.0.attention.
#include "report/flow_parts.h"
#include "report/plan_text.h"
#include "report/report.h"
#include "report/speed.h"

namespace svod {

namespace {

constexpr size_t kMostLevels = 12;  // of a name; what is below stays in one word
constexpr size_t kSamePorts = 6;    // inputs, outputs or states that stand for themselves

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
    for (const Handover::Edge& edge : handover_.edges())
      flow_.edges.push_back({edge.from, edge.to, bufferLabel(edge.buffer), plan_.buffers[BufferId(edge.buffer)].bytes});
    groupByPaths(flow_, paths_);
    openTheFirst(flow_);
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
      handover_.begin(p.buffer, port(Flow::Kind::Input, p.name, p.buffer, typeText(plan_, p), plan_.inputs.size()));
    for (const State& s : plan_.states)
      handover_.begin(
          s.buffer, port(Flow::Kind::State, s.name, s.buffer, typeText(plan_.buffers[s.buffer]), plan_.states.size()));
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
      while (!loops_.empty() && i >= loops_.back().end) leaveLoop();
      Flow::Node node = nodeOf(i);
      node.share = total > 0 ? times[i] / total : 0;
      std::vector<std::string> path;
      for (const OpenLoop& open : loops_) path.push_back(open.name);
      if (const Loop* loop = std::get_if<Loop>(&plan_.steps[StepId(i)].action)) {
        loops_.push_back({node.name, i + 1 + loop->length});
        handover_.enterLoop();
        path.push_back(node.name);
      } else {
        for (const std::string& level : levelsOf(node.name)) path.push_back(level);
        node.name = path.back(), path.pop_back();
      }
      touch(add(std::move(node), std::move(path)), plan_.steps[StepId(i)]);
    }
    while (!loops_.empty()) leaveLoop();
  }

  void leaveLoop() {
    handover_.leaveLoop();
    loops_.pop_back();
  }

  void touch(size_t node, const Step& step) {
    StepUse use = useOf(plan_, step);
    if (const Loop* loop = std::get_if<Loop>(&step.action); loop != nullptr && loop->condition)
      use.reads.push_back(*loop->condition);
    for (int64_t id : use.reads) handover_.read(id, node);
    for (int64_t id : use.writes) handover_.write(id, node);
  }

  void sinks() {
    for (const Port& p : plan_.outputs)
      sink(Flow::Kind::Output, p.name, p.buffer, typeText(plan_, p), plan_.outputs.size());
    for (const State& s : plan_.states)
      if (!handover_.isAsBefore(s.buffer))
        sink(Flow::Kind::State, "next " + s.name, s.buffer, typeText(plan_.buffers[s.buffer]), plan_.states.size());
  }

  void sink(Flow::Kind kind, const std::string& name, BufferId buffer, const std::string& type, size_t count) {
    const size_t node = port(kind, name, buffer, type, count);
    if (!paths_[node].empty() && kind == Flow::Kind::State) paths_[node] = {"next states"};
    handover_.end(buffer, node);
  }

  struct OpenLoop {
    std::string name;
    size_t end;  // the first step behind it
  };

  const Subject& subject_;
  const Plan& plan_;
  Flow flow_;
  std::vector<std::vector<std::string>> paths_;  // of nodes
  Handover handover_;
  std::vector<OpenLoop> loops_;
};

}  // namespace

Section flowOf(const Subject& subject) {
  Section section{"flow", "Data flow"};
  section.blocks.push_back(FlowMaker(subject).make());
  return section;
}

}  // namespace svod
