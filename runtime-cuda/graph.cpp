#include "runtime-cuda/graph.h"

#include <algorithm>

namespace svod::cuda {

namespace {

/// Everything of a work that a node is made of, as numbers: equal ones need no change.
void describe(const DeviceWork& work, std::vector<uint64_t>& to) {
  to.clear();
  const auto add = [&](auto number) { to.push_back(static_cast<uint64_t>(number)); };
  if (work.kind != DeviceWork::Kind::Launch) {
    add(addressOf(work.to)), add(addressOf(work.from)), add(work.bytes);
    return;
  }
  const DeviceLaunch& launch = work.launch;
  for (int64_t groups : launch.groups) add(groups);
  for (uint32_t i = 0; i < launch.bufferCount; i++) add(addressOf(launch.buffers[i]));
  for (uint32_t i = 0; i < launch.valueCount; i++) add(launch.values[i]);
  for (const DeviceTensorMap& map : launch.tensorMaps) {
    to.insert(to.end(), map.dims.begin(), map.dims.end());
    to.insert(to.end(), map.strides.begin(), map.strides.end());
  }
}

/// A copy is one row, whose length the driver limits.
constexpr uint64_t kMostRow = INT32_MAX;

CopySide side(const void* memory, bool isHost, uint64_t bytes) {
  CopySide side = {};
  side.pitch = bytes, side.height = 1;
  side.type = isHost ? kHost : kDevice;
  if (isHost)
    side.host = const_cast<void*>(memory);
  else
    side.device = addressOf(memory);
  return side;
}

CopyNode copyNode(const DeviceWork& work) {
  return {side(work.from, work.kind == DeviceWork::Kind::CopyIn, work.bytes),
          side(work.to, work.kind == DeviceWork::Kind::CopyOut, work.bytes), work.bytes, 1, 1};
}

class BatchGraph final : public DeviceBatch::Kept {
 public:
  explicit BatchGraph(CudaDevice& device) : device_(device), driver_(device.driver()) {}
  ~BatchGraph() override {
    if (device_.isLost()) return;
    const Current current(driver_, device_.context());
    if (current.code() == kSuccess && device_.isThere()) destroy();
  }

  Code launch(const DeviceBatch& batch, uint32_t& first, uint32_t& last) {
    if (version_ != batch.version || exec_ == nullptr)
      if (const Code code = prepare(batch, first, last); code != kSuccess) return code;
    return driver_.cuGraphLaunch(exec_, device_.stream());
  }

 private:
  struct Node {
    DeviceWork::Kind kind;
    const void* kernel;  // of a launch
    std::vector<uint32_t> after;
    GraphNode node = nullptr;
    std::vector<uint64_t> now;  // what it was made of
  };

  Code prepare(const DeviceBatch& batch, uint32_t& first, uint32_t& last) {
    Code code = exec_ != nullptr && hasWorksOf(batch) ? change(batch) : kUpdateFailure;
    if (code == kUpdateFailure || code == kInvalidValue) {
      destroy();
      code = make(batch, first, last);
      if (code != kSuccess && !endsContext(code)) destroy();
    }
    if (code == kSuccess) version_ = batch.version;
    return code;
  }

  static std::span<const uint32_t> afterOf(const DeviceBatch& batch, const DeviceWork& work) {
    return std::span(batch.after).subspan(work.after.begin, work.after.size());
  }

  bool hasWorksOf(const DeviceBatch& batch) const {
    return std::ranges::equal(nodes_, batch.works, [&](const Node& node, const DeviceWork& work) {
      return node.kind == work.kind && node.kernel == work.launch.loaded &&
             std::ranges::equal(node.after, afterOf(batch, work));
    });
  }

  void destroy() {
    if (exec_ != nullptr) (void)driver_.cuGraphExecDestroy(exec_);
    if (graph_ != nullptr) (void)driver_.cuGraphDestroy(graph_);
    exec_ = nullptr, graph_ = nullptr;
    nodes_.clear();
  }

  Code fill(const DeviceLaunch& launch, KernelNode& to) {
    const auto& kernel = *static_cast<const DeviceKernel*>(launch.loaded);
    if (const Code code = checkLaunch(kernel, launch); code != kSuccess) return code;
    if (const Code code = parameters_.fill(driver_, launch); code != kSuccess) return code;
    to = {};
    to.function = kernel.function;
    for (size_t axis = 0; axis < 3; axis++) {
      to.groups[axis] = static_cast<unsigned>(launch.groups[axis]);
      to.threads[axis] = kernel.threads[axis];
    }
    to.sharedBytes = kernel.sharedBytes;
    to.parameters = parameters_.addresses();
    return kSuccess;
  }

  Code change(const DeviceBatch& batch) {
    std::vector<uint64_t> now;
    for (size_t i = 0; i < nodes_.size(); i++) {
      const DeviceWork& work = batch.works[i];
      describe(work, now);
      if (now == nodes_[i].now) continue;
      Code code = kSuccess;
      if (work.kind == DeviceWork::Kind::Launch) {
        KernelNode kernel;
        code = fill(work.launch, kernel);
        if (code == kSuccess) code = driver_.cuGraphExecKernelNodeSetParams(exec_, nodes_[i].node, &kernel);
      } else {
        const CopyNode copy = copyNode(work);
        code = driver_.cuGraphExecMemcpyNodeSetParams(exec_, nodes_[i].node, &copy, device_.context());
      }
      if (code != kSuccess) return code;
      nodes_[i].now = now;
    }
    return kSuccess;
  }

  Code add(const DeviceWork& work, std::span<const GraphNode> after, Node& node) {
    if (work.kind != DeviceWork::Kind::Launch) {
      const CopyNode copy = copyNode(work);
      return driver_.cuGraphAddMemcpyNode(&node.node, graph_, after.data(), after.size(), &copy, device_.context());
    }
    KernelNode kernel;
    if (const Code code = fill(work.launch, kernel); code != kSuccess) return code;
    if (const Code code = driver_.cuGraphAddKernelNode(&node.node, graph_, after.data(), after.size(), &kernel);
        code != kSuccess)
      return code;
    const auto& known = *static_cast<const DeviceKernel*>(work.launch.loaded);
    if (!known.hasCluster()) return kSuccess;
    DriverAttributeValue cluster = {};
    cluster.cluster = {known.cluster[0], known.cluster[1], known.cluster[2]};
    return driver_.cuGraphKernelNodeSetAttribute(node.node, kClusterDimension, &cluster);
  }

  Code make(const DeviceBatch& batch, uint32_t& first, uint32_t& last) {
    if (const Code code = driver_.cuGraphCreate(&graph_, 0); code != kSuccess) return code;
    std::vector<GraphNode> after;
    for (const DeviceWork& work : batch.works) {
      const auto indices = afterOf(batch, work);
      Node node{work.kind, work.launch.loaded, {indices.begin(), indices.end()}, nullptr, {}};
      after.clear();
      for (uint32_t index : indices) after.push_back(nodes_[index].node);
      if (const Code code = add(work, after, node); code != kSuccess) {
        first = last = work.tag;
        return code;
      }
      describe(work, node.now);
      nodes_.push_back(std::move(node));
    }
    if (const Code code = driver_.cuGraphInstantiateWithFlags(&exec_, graph_, 0); code != kSuccess) return code;
    return driver_.cuGraphUpload(exec_, device_.stream());
  }

  CudaDevice& device_;
  const Driver& driver_;
  Graph graph_ = nullptr;
  GraphExec exec_ = nullptr;
  std::vector<Node> nodes_;  // by DeviceBatch::works
  Parameters parameters_;
  uint64_t version_ = 0;  // of the batch
};

}  // namespace

bool fitsGraph(const DeviceBatch& batch) {
  return batch.works.size() > 1 &&
         std::ranges::all_of(batch.works, [](const DeviceWork& work) { return work.bytes <= kMostRow; });
}

Code giveGraph(CudaDevice& device, DeviceBatch& batch, uint32_t& first, uint32_t& last) {
  if (batch.kept == nullptr) batch.kept = std::make_unique<BatchGraph>(device);
  return static_cast<BatchGraph&>(*batch.kept).launch(batch, first, last);
}

}  // namespace svod::cuda
