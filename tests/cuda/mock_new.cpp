// The functions of the mock that only drivers from CUDA 11.6 on have: graphs, clusters, tensor maps, and the one that
// finds functions by version. And functions of other ABIs, which nobody may call.
#include <cstring>

#include "cuda/mock_api.h"

using mock::Mock;

namespace {

constexpr Code kInvalidHandle = 400;
constexpr uint64_t kMapMagic = 0x70616d206b636f6d;

std::optional<std::function<Code()>> kernelWork(Mock& m, const KernelNode& kernel, ContextObject* context) {
  if (!m.functions.contains(kernel.function) || kernel.extra != nullptr || kernel.kernel != nullptr)
    return m.wrong("a node of no function"), std::nullopt;
  return m.kernelWork(kernel.function, kernel.groups, kernel.threads, kernel.sharedBytes, kernel.parameters, context);
}

GraphNodeObject* addNode(Mock& m, GraphObject* graph, const GraphNode* after, size_t count,
                         std::function<Code()> work) {
  auto node = std::make_unique<GraphNodeObject>();
  node->graph = graph;
  for (size_t i = 0; i < count; i++) {
    if (after[i]->graph != graph) m.wrong("an edge from a node of another graph");
    node->after.push_back(after[i]);
  }
  graph->works[node.get()] = std::move(work);
  return graph->nodes.emplace_back(std::move(node)).get();
}

/// In any order that the edges allow.
Code runGraph(Mock& m, const GraphObject& graph, const std::map<const GraphNodeObject*, std::function<Code()>>& works) {
  std::set<const GraphNodeObject*> done;
  while (done.size() < graph.nodes.size()) {
    std::vector<const GraphNodeObject*> ready;
    for (const auto& node : graph.nodes) {
      bool isReady = !done.contains(node.get());
      for (const GraphNodeObject* before : node->after) isReady = isReady && done.contains(before);
      if (isReady) ready.push_back(node.get());
    }
    const GraphNodeObject* const next = ready[m.random() % ready.size()];
    if (const Code code = works.at(next)(); code != kSuccess) return code;
    done.insert(next);
  }
  return kSuccess;
}

}  // namespace

extern "C" {

Code cuOccupancyMaxActiveClusters(int* clusters, Function function, const LaunchConfig* config) {
  MOCK_CALL("cuOccupancyMaxActiveClusters");
  if (!m.functions.contains(function) || config->attributeCount != 1)
    return m.wrong("the clusters of no function"), kInvalidValue;
  const auto& size = config->attributes[0].value.cluster;
  *clusters = size.x * size.y * size.z <= 8 ? 1 : 0;
  return kSuccess;
}

Code cuLaunchKernelEx(const LaunchConfig* config, Function function, void** parameters, void** extra) {
  MOCK_CALL("cuLaunchKernelEx");
  Stream const stream = m.streamOf(config->stream, context);
  if (stream == nullptr || !m.functions.contains(function) || extra != nullptr) return kInvalidHandle;
  auto work = m.kernelWork(function, config->groups, config->threads, config->sharedBytes, parameters, context);
  return work ? m.launch(stream, std::move(*work)) : kInvalidValue;
}

Code cuStreamGetCtx(Stream stream, Context* of) {
  MOCK_CALL("cuStreamGetCtx");
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return *of = context, kSuccess;
  if (!m.streams.contains(stream)) return m.wrong("a stream that is none"), kInvalidHandle;
  *of = stream->context;
  return kSuccess;
}

Code cuStreamIsCapturing(Stream stream, int* status) {
  MOCK_CALL("cuStreamIsCapturing");
  if ((stream = m.streamOf(stream, context)) == nullptr) return kInvalidHandle;
  *status = stream->isCaptured ? 1 : 0;
  return kSuccess;
}

/// What a test tells of a stream of its own: there is no capture here, only the answer that there is one.
Code svod_mock_capture(Stream stream, int isCaptured) {
  MOCK_CALL("svod_mock_capture");
  if ((stream = m.streamOf(stream, context)) == nullptr) return kInvalidHandle;
  stream->isCaptured = isCaptured != 0;
  return kSuccess;
}

Code cuGraphCreate(Graph* graph, unsigned flags) {
  MOCK_CALL("cuGraphCreate");
  if (flags != 0) m.wrong("a graph with flags");
  auto made = std::make_unique<GraphObject>();
  *graph = made.get();
  m.graphs[*graph] = std::move(made);
  return kSuccess;
}

Code cuGraphDestroy(Graph graph) {
  MOCK_CALL("cuGraphDestroy");
  for (const auto& [key, exec] : m.execs)
    if (exec->graph == graph) m.wrong("a graph is destroyed before what was made of it");
  return m.graphs.erase(graph) == 1 ? kSuccess : (m.wrong("a graph that is none is destroyed"), kInvalidValue);
}

Code cuGraphAddKernelNode_v2(GraphNode* node, Graph graph, const GraphNode* after, size_t count,
                             const KernelNode* kernel) {
  MOCK_CALL("cuGraphAddKernelNode_v2");
  auto work = kernelWork(m, *kernel, context);
  if (!work || !m.graphs.contains(graph)) return kInvalidValue;
  *node = addNode(m, graph, after, count, std::move(*work));
  (*node)->isKernel = true;
  return kSuccess;
}

Code cuGraphKernelNodeSetAttribute(GraphNode node, DriverAttributeId attribute, const DriverAttributeValue* value) {
  MOCK_CALL("cuGraphKernelNodeSetAttribute");
  if (!node->isKernel || attribute != kClusterDimension || value->cluster.x == 0)
    return m.wrong("an attribute of a node"), kInvalidValue;
  return kSuccess;
}

Code cuGraphAddMemcpyNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count, const CopyNode* copy,
                          Context of) {
  MOCK_CALL("cuGraphAddMemcpyNode");
  auto work = m.copyWork(*copy, context, true);
  if (!work || !m.graphs.contains(graph) || of != context) return kInvalidValue;
  *node = addNode(m, graph, after, count, std::move(*work));
  (*node)->isKernel = false, (*node)->from = copy->from.type, (*node)->to = copy->to.type;
  return kSuccess;
}

Code cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
  MOCK_CALL("cuGraphInstantiateWithFlags");
  if (!m.graphs.contains(graph) || flags != 0) return m.wrong("no graph is made executable"), kInvalidValue;
  auto made = std::make_unique<GraphExecObject>(GraphExecObject{context, graph, graph->works});
  *exec = made.get();
  m.execs[*exec] = std::move(made);
  return kSuccess;
}

Code cuGraphExecDestroy(GraphExec exec) {
  MOCK_CALL("cuGraphExecDestroy");
  return m.execs.erase(exec) == 1 ? kSuccess : (m.wrong("a graph that is none is destroyed"), kInvalidValue);
}

Code cuGraphExecKernelNodeSetParams_v2(GraphExec exec, GraphNode node, const KernelNode* kernel) {
  MOCK_CALL("cuGraphExecKernelNodeSetParams_v2");
  if (!m.execs.contains(exec) || node->graph != exec->graph || !node->isKernel)
    return m.wrong("a node of another graph is changed"), kInvalidValue;
  auto work = kernelWork(m, *kernel, context);
  if (!work) return kInvalidValue;
  exec->works[node] = std::move(*work);
  return kSuccess;
}

Code cuGraphExecMemcpyNodeSetParams(GraphExec exec, GraphNode node, const CopyNode* copy, Context of) {
  MOCK_CALL("cuGraphExecMemcpyNodeSetParams");
  if (!m.execs.contains(exec) || node->graph != exec->graph || node->isKernel || of != context)
    return m.wrong("a node of another graph is changed"), kInvalidValue;
  if (node->from != copy->from.type || node->to != copy->to.type) return kInvalidValue;
  auto work = m.copyWork(*copy, context, true);
  if (!work) return kInvalidValue;
  exec->works[node] = std::move(*work);
  return kSuccess;
}

Code cuGraphUpload(GraphExec exec, Stream stream) {
  MOCK_CALL("cuGraphUpload");
  return m.execs.contains(exec) && m.streamOf(stream, context) != nullptr ? kSuccess : kInvalidHandle;
}

Code cuGraphLaunch(GraphExec exec, Stream stream) {
  MOCK_CALL("cuGraphLaunch");
  if (!m.execs.contains(exec) || (stream = m.streamOf(stream, context)) == nullptr)
    return m.wrong("a launch of no graph"), kInvalidHandle;
  if (!m.graphs.contains(exec->graph)) return m.wrong("a launch of a graph that is gone"), kInvalidHandle;
  // What it does is fixed now, also where a node of it is changed before it happens.
  auto now = std::make_shared<GraphObject>();
  std::map<const GraphNodeObject*, GraphNodeObject*> copies;
  for (const auto& node : exec->graph->nodes) {
    auto copied = std::make_unique<GraphNodeObject>(*node);
    for (GraphNodeObject*& before : copied->after) before = copies.at(before);
    copies[node.get()] = copied.get();
    now->works[copied.get()] = exec->works.at(node.get());
    now->nodes.push_back(std::move(copied));
  }
  return m.launch(stream, [&m, now] { return runGraph(m, *now, now->works); });
}

Code cuTensorMapEncodeTiled(TensorMapObject* map, int type, unsigned rank, void* address, const uint64_t* dims,
                            const uint64_t* strides, const unsigned* box, const unsigned* steps, int interleave,
                            TensorSwizzle swizzle, TensorPromotion promotion, int fill) {
  MOCK_ENTER("cuTensorMapEncodeTiled");
  const auto base = reinterpret_cast<uintptr_t>(address);
  bool isFine = rank >= 1 && rank <= 5 && base % 16 == 0 && type >= 0 && type <= 12 && interleave == 0 && fill == 0 &&
                swizzle <= 3 && promotion <= 3;
  for (unsigned i = 0; i < rank && isFine; i++)
    isFine = dims[i] > 0 && box[i] > 0 && box[i] <= 256 && steps[i] > 0 && steps[i] <= 8;
  for (unsigned i = 0; i + 1 < rank && isFine; i++) isFine = strides[i] % 16 == 0;
  constexpr unsigned kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4}, kRowOf[] = {0, 32, 64, 128};
  const unsigned row = isFine ? box[0] * kElementBytes[type] : 0;
  isFine &= row % 16 == 0 && (swizzle == 0 || row <= kRowOf[swizzle]);
  if (!isFine || reinterpret_cast<uintptr_t>(map) % 64 != 0) return kInvalidValue;
  SvodMap content{};
  content.address = address, content.dims = static_cast<uint8_t>(rank);
  content.elementBytes = static_cast<uint8_t>(kElementBytes[type]);
  content.swizzle = static_cast<uint8_t>(kRowOf[swizzle]);
  for (unsigned i = 0; i < rank; i++) {
    content.extents[i] = static_cast<uint32_t>(dims[i]), content.box[i] = static_cast<uint16_t>(box[i]);
    if (i > 0) content.strides[i - 1] = strides[i - 1];
  }
  static_assert(sizeof content <= sizeof map->words - 2 * sizeof map->words[0]);
  map->words[0] = kMapMagic, map->words[1] = base;
  std::memcpy(map->words + 2, &content, sizeof content);
  return kSuccess;
}

// Functions of these names have had other parameters once, or have others by now.
#define MOCK_OTHER(name)                                         \
  Code name() {                                                  \
    mock::Mock& m = mock::Mock::get();                           \
    const std::lock_guard lock(m.mutex);                         \
    m.wrong("a call of " #name ", whose parameters are others"); \
    return 999;                                                  \
  }
MOCK_OTHER(cuMemAlloc)
MOCK_OTHER(cuMemFree)
MOCK_OTHER(cuCtxPushCurrent)
MOCK_OTHER(cuCtxPopCurrent)
MOCK_OTHER(cuStreamDestroy)
MOCK_OTHER(cuEventDestroy)
MOCK_OTHER(cuDeviceTotalMem)
MOCK_OTHER(cuMemcpyHtoDAsync)
MOCK_OTHER(cuMemcpyDtoHAsync)
MOCK_OTHER(cuMemcpyDtoDAsync)
MOCK_OTHER(cuGraphAddKernelNode)
MOCK_OTHER(cuGraphExecKernelNodeSetParams)
MOCK_OTHER(cuDevicePrimaryCtxRelease)
MOCK_OTHER(cuDeviceGetUuid)
MOCK_OTHER(cuEventElapsedTime_v2)
MOCK_OTHER(cuGetProcAddress)

/// By the version whose parameters the caller knows.
Code cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  mock::Mock& m = mock::Mock::get();
  const std::lock_guard lock(m.mutex);
  struct Known {
    const char* name;
    int version;
    void* function;
  };
#define MOCK_KNOWN(name, suffix, version) {#name, version, reinterpret_cast<void*>(&name##suffix)}
  static const Known kKnown[] = {MOCK_KNOWN(cuMemcpyHtoDAsync, _v2, 3020),
                                 MOCK_KNOWN(cuMemcpyDtoHAsync, _v2, 3020),
                                 MOCK_KNOWN(cuMemcpyDtoDAsync, _v2, 3020),
                                 MOCK_KNOWN(cuMemAlloc, _v2, 3020),
                                 MOCK_KNOWN(cuMemFree, _v2, 3020),
                                 MOCK_KNOWN(cuDeviceTotalMem, _v2, 3020),
                                 MOCK_KNOWN(cuCtxPushCurrent, _v2, 4000),
                                 MOCK_KNOWN(cuCtxPopCurrent, _v2, 4000),
                                 MOCK_KNOWN(cuStreamDestroy, _v2, 4000),
                                 MOCK_KNOWN(cuEventDestroy, _v2, 4000),
                                 MOCK_KNOWN(cuDevicePrimaryCtxRelease, _v2, 11000),
                                 MOCK_KNOWN(cuDeviceGetUuid, _v2, 11040),
                                 MOCK_KNOWN(cuGraphAddKernelNode, _v2, 12000),
                                 MOCK_KNOWN(cuGraphExecKernelNodeSetParams, _v2, 12000),
                                 MOCK_KNOWN(cuEventElapsedTime, , 2000),
                                 MOCK_KNOWN(cuEventElapsedTime, _v2, 12080),
                                 MOCK_KNOWN(cuGraphInstantiateWithFlags, , 11040),
                                 MOCK_KNOWN(cuTensorMapEncodeTiled, , 12000),
                                 MOCK_KNOWN(cuLaunchKernelEx, , 11060)};
  *function = nullptr, *status = 1;
  if (flags != 0) m.wrong("functions are asked for with flags");
  const Known* best = nullptr;
  bool isKnown = false;
  for (const Known& row : kKnown)
    if (std::strcmp(row.name, name) == 0) {
      isKnown = true;
      if (row.version <= version && (best == nullptr || row.version > best->version)) best = &row;
    }
  if (best == nullptr && isKnown) {
    m.wrong(std::string("no parameters of ") + name + " are of that version");
    return 500;
  }
  if (best == nullptr) return 500;  // the loader finds it
  if (best->version > m.config.version) return *status = 2, kSuccess;
  *function = best->function, *status = 0;
  return kSuccess;
}

}  // extern "C"
