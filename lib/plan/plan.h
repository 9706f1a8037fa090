// A plan: what runs, on which bytes, in which order. These types equal plan.json field by field
// (docs/plan.md, docs/plan.schema.json). Ids are indices into the lists of the plan. Sizes and offsets are in
// bytes unless a comment says otherwise. A plan is plain data; `check` (plan/check.h) says whether it is
// consistent.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plan/expr.h"
#include "plan/id.h"
#include "support/element_type.h"
#include "support/expectation.h"

namespace svod {

inline constexpr uint32_t kPlanVersion = 10;  // what we write
inline constexpr uint32_t kOldestPlanVersion =
    9;                                          // what the reader accepts, and all between; 9 has no cases, no RunPlace
inline constexpr uint64_t kPlanAlignment = 64;  // arena offsets, constants, states and scratch

using FileId = Id<struct FileDesc>;
using DeviceId = Id<struct DeviceDesc>;
using ConstantId = Id<struct Constant>;
using VariableId = Id<struct Variable>;
using BufferId = Id<struct BufferDesc>;
using KernelId = Id<struct KernelDesc>;
using StepId = Id<struct Step>;
using StateId = Id<struct State>;

/// What the plan was compiled for. No time and no path stands here: equal input gives equal bytes.
struct TargetRecord {
  std::string triple;                 // "x86_64-unknown-linux-gnu"
  std::string cpu;                    // "znver4"; as given to the code generator
  std::vector<std::string> features;  // features the code may use, LLVM's names: "avx2", "fma"
  std::string numerics;               // strict, contract or fast
  std::string compiler;               // "svod 0.1.0"
  bool operator==(const TargetRecord&) const = default;
};

enum class FileKind : uint8_t {
  Code,     // "code": a shared library with the kernels
  Source,   // "source": C source of the kernels; informative, never run
  Weights,  // "weights": bytes of the constants
  Image,    // "image": a module with kernels as a device of `image` loads it
};

/// What an image needs of a device before it is loaded.
struct ImageTarget {
  std::string device;   // its kind, as DeviceDesc::kind
  std::string arch;     // "sm_90a"; the device knows which ones it runs
  uint32_t driver = 0;  // the least version, as the device counts
  bool operator==(const ImageTarget&) const = default;
};

/// A file beside plan.json. Code and images are checked against their SHA-256 at load, weights on request.
struct FileDesc {
  std::string path;  // a plain file name inside the plan directory
  FileKind kind = FileKind::Code;
  uint64_t bytes = 0;
  std::string sha256;      // of the whole file, 64 lower-case hexadecimal digits
  ImageTarget image = {};  // Image
  bool operator==(const FileDesc&) const = default;
};

/// What runs the kernels of a device, by the name of its driver. A runtime without a driver of that name refuses the
/// plan.
struct DeviceKind {
  static constexpr const char* Cpu = "cpu";  // the threads of the process that runs the plan
};

/// Memory of its own, and what runs on it. Device 0 is the host: the caller's memory, host functions and conditions of
/// loops are there. A launch runs on the device of its buffers.
struct DeviceDesc {
  std::string name;  // as the graph calls it; unique
  std::string kind = DeviceKind::Cpu;
  uint64_t arenaBytes = 0;   // at the greatest sizes
  uint64_t sharedBytes = 0;  // of a second arena, which the host reads and writes as well; none of kind cpu
  bool operator==(const DeviceDesc&) const = default;
};

struct Constant {
  FileId file = {};  // of kind Weights
  uint64_t offset = 0, bytes = 0;
  bool operator==(const Constant&) const = default;
};

/// Where the bytes of a buffer live.
enum class Place : uint8_t {
  Arena,     // "arena": at `offset` in an arena of the instance on `device`; contents undefined before the first write
  Input,     // "input": the caller's memory, dense at the actual shape; only read
  Output,    // "output": the caller's memory, dense at the actual shape
  State,     // "state": memory of the instance on `device`, kept between runs
  Constant,  // "constant": bytes of `constant`; only read, on any device
  View,      // "view": `offset` bytes into buffer `base`, which is no View itself
};

/// Which arena of its device a buffer lies in.
enum class MemorySpace : uint8_t {
  Device,  // "device": that which others see through copies only
  Shared,  // "shared": that which the host reads and writes as well
};
inline constexpr MemorySpace kMemorySpaces[] = {MemorySpace::Device, MemorySpace::Shared};

/// A place in an arena that is laid out for the sizes of every run. Such an arena is a row of units, each as long as
/// the buffers of that run need. Buffers that have no unit in common never share bytes, whatever the sizes are.
struct RunPlace {
  uint32_t begin = 0, end = 0;  // the units that it lies in, one at least; none before planMemory()
  Expr bytes;                   // what a run touches, at most BufferDesc::bytes; over variables that no loop sets
  bool operator==(const RunPlace&) const = default;
};

struct BufferDesc {
  std::string name;  // for people; need not be unique
  ElementType dtype = ElementType::F32;
  std::vector<uint64_t> shape;  // maximum, in elements; states are strided for it
  uint64_t bytes = 0;           // at least what the shape needs
  Place place = Place::Arena;
  uint64_t offset = 0;                      // View, and Arena without `run`
  BufferId base = {};                       // View
  ConstantId constant = {};                 // Constant
  DeviceId device = {};                     // Arena, State; other places but Constant and View are on the host
  MemorySpace space = MemorySpace::Device;  // Arena of a device besides the host
  std::optional<RunPlace> run = {};         // Arena, in place of `offset`; all buffers of an arena have one, or none
  bool operator==(const BufferDesc&) const = default;
};

enum class VariableKind : uint8_t {
  Free,   // "free": bound by the caller, or inferred from the shape of an input
  Fixed,  // "fixed": always `value`
  Loop,   // "loop": set by the Loop step that names it; the caller neither sees nor sets it
};

struct Variable {
  std::string name;
  int64_t min = 0, max = 0;  // both inclusive
  VariableKind kind = VariableKind::Free;
  int64_t value = 0;                   // Fixed
  std::optional<int64_t> likely = {};  // Free: what arenas are laid out for first; informative
  bool operator==(const Variable&) const = default;
};

enum class Mode : uint8_t { Read = 1, Write = 2, ReadWrite = 3 };
inline bool reads(Mode mode) { return (static_cast<uint8_t>(mode) & 1) != 0; }
inline bool writes(Mode mode) { return (static_cast<uint8_t>(mode) & 2) != 0; }

/// A buffer parameter of a kernel.
struct KernelArg {
  ElementType dtype = ElementType::F32;
  Mode mode = Mode::Read;
  uint64_t bytes = 0;  // the most it touches, from the pointer on
  bool operator==(const KernelArg&) const = default;
};

/// An image that holds a kernel, and what the kernel needs there of each thread and workgroup.
struct KernelImage {
  FileId file = {};          // of kind Image
  uint32_t registers = 0;    // of a thread
  uint64_t sharedBytes = 0;  // of a workgroup, besides those of the grid
  bool operator==(const KernelImage&) const = default;
};

/// What a driver is told of a launch besides its sizes, such as `cluster.x` 2.
struct LaunchAttribute {
  std::string name;
  int64_t value = 0;
  bool operator==(const LaunchAttribute&) const = default;
};

/// A view of a buffer that the copy engine of a device walks in boxes, given to the kernel in place of the address.
/// Axes are innermost first.
struct TensorMap {
  uint32_t arg = 0;     // of KernelDesc::args
  uint64_t offset = 0;  // bytes
  ElementType dtype = ElementType::F32;
  std::vector<Expr> dims;      // 1 to 5, in elements
  std::vector<Expr> strides;   // bytes between neighbours, of all axes but the first
  std::vector<uint64_t> box;   // elements of each axis in one copy
  std::vector<uint64_t> step;  // every how many-th element of each axis is taken
  uint64_t swizzleBytes = 0;   // of a row that is permuted in shared memory: 0, 32, 64 or 128
  bool operator==(const TensorMap&) const = default;
};

/// Work of a device with workgroups.
struct Grid {
  std::array<Expr, 3> groups = {1, 1, 1};       // along x, y and z; 0 means nothing to do
  std::array<uint64_t, 3> threads = {1, 1, 1};  // of a workgroup
  uint64_t sharedBytes = 0;                     // of a workgroup, given with the launch
  std::vector<LaunchAttribute> attributes;
  std::vector<TensorMap> tensorMaps;
  std::vector<KernelImage> images;  // one for each architecture that the kernel is for; a device takes that of its own
  bool operator==(const Grid&) const = default;
};

/// One function `void f(void* const* buffers, const int64_t* values, int64_t tileBegin, int64_t tileEnd,
/// void* scratch)`. Any split of [0, tiles) into ranges, run in any order or at once, gives the same bytes.
/// Expressions use the indices of `values`. Several launches may share a kernel. With a grid it is a function of each
/// of its images, and `file`, `tiles` and `scratchBytes` mean nothing.
struct KernelDesc {
  FileId file = {};                 // of kind Code (or Source, in a plan that cannot run yet)
  std::string symbol, name;         // in the file; for people
  std::vector<KernelArg> args;      // in the order of `buffers`
  std::vector<std::string> values;  // names, in the order of `values`
  Expr tiles = 1;                   // 0 means nothing to do
  uint64_t scratchBytes = 0;        // per thread that runs it, 64-byte aligned, contents undefined
  Expr flops, bytes;                // estimates for one launch: operations, bytes read and written
  std::string opts;                 // the opts that shaped it, as text; informative
  std::optional<Grid> grid = {};
  bool operator==(const KernelDesc&) const = default;
};

struct LaunchCase;

/// Runs a kernel on all its tiles: that of the first case that holds, or without one its own.
struct Launch {
  KernelId kernel = {};
  std::vector<BufferId> buffers;  // one per KernelDesc::args
  std::vector<Expr> values;       // one per KernelDesc::values, over the plan's variables
  std::vector<LaunchCase> cases;  // known when the sizes of a run are
  bool operator==(const Launch& other) const;
};

/// A size of a run that lies between two numbers, both inclusive. `s%16` between 0 and 0 is a multiple of 16.
struct SizeRange {
  Expr size;  // over the plan's variables, but those of loops
  int64_t min = 0, max = 0;
  bool operator==(const SizeRange&) const = default;
};

/// What a launch runs where all sizes are in their ranges: the same arguments, of which the kernel may touch less, but
/// for weights in another order.
struct LaunchCase {
  std::vector<SizeRange> when;
  Launch launch;  // without cases
  bool operator==(const LaunchCase&) const = default;
};

/// Copies the first `bytes` bytes, from one device to another or on one.
struct Copy {
  BufferId dst = {}, src = {};
  Expr bytes;  // over the plan's variables
  bool operator==(const Copy&) const = default;
};

/// A buffer that a function of the application is given, dense at `shape`.
struct HostArg {
  BufferId buffer = {};
  Mode mode = Mode::Read;
  std::vector<Expr> shape;  // over the plan's variables
  bool operator==(const HostArg&) const = default;
};

/// Calls a function of the application, found by name when an instance is made.
struct HostCall {
  std::string function;
  std::vector<HostArg> args;
  std::vector<Expr> values;  // numbers it is given besides, over the plan's variables
  bool operator==(const HostCall&) const = default;
};

/// Runs the next `length` steps `trips` times, with `variable` = 0, 1, … An iteration ends before the next
/// one begins. Steps of the body depend only on steps of the same body; steps after it depend on the Loop
/// itself. Every loop has a variable of its own. With a condition, an iteration only begins when the first byte of that
/// bool buffer is not 0, else the loop ends; so a branch is a loop of one trip.
struct Loop {
  VariableId variable = {};
  Expr trips;                              // over the plan's variables
  uint32_t length = 0;                     // steps in the body; loops may nest
  std::optional<BufferId> condition = {};  // read before every iteration
  bool operator==(const Loop&) const = default;
};

struct Step {
  std::vector<StepId> deps;  // increasing, each < own index; every data, hazard and memory-reuse order
  std::variant<Launch, Copy, HostCall, Loop> action;
  bool operator==(const Step&) const = default;
};

/// What a variant runs in place of the launch of a step: the same arguments, but for weights in another order.
struct VariantLaunch {
  StepId step = {};
  Launch launch;
  bool operator==(const VariantLaunch&) const = default;
};

/// The plan for another processor of the triple, or for another architecture of a kind of device: what differs from the
/// plan as it stands, which is for `target` and for every architecture without a variant. The loader takes one
/// processor, and each device one architecture (plan/variants.h).
struct Variant {
  std::string cpu;  // unique; as in TargetRecord, or "KIND:ARCH" such as "cuda:sm_80"; those of devices stand first
  std::vector<std::string> features;
  std::vector<VariantLaunch> launches;  // by step
  bool operator==(const Variant&) const = default;
};

/// An input or output by its name in the graph.
struct Port {
  std::string name;
  BufferId buffer = {};
  std::vector<Expr> shape;  // over the plan's variables; never above the buffer's shape
  bool operator==(const Port&) const = default;
};

/// A buffer that survives between runs of one instance.
struct State {
  std::string name;
  BufferId buffer = {};
  std::optional<ConstantId> init;  // its first contents; zero without
  bool operator==(const State&) const = default;
};

/// A run fails when its steps leave something else in the first half of an arena buffer than in the second. `text` says
/// what the numbers are, `kind` how the run ends.
struct Expectation {
  BufferId buffer = {};  // i64 [2, n]
  ExpectationKind kind = {};
  std::string text;
  bool operator==(const Expectation&) const = default;
};

/// A run whose variables give these different values fails before its first step. `text` says which sizes they are.
struct EqualExprs {
  Expr a, b;  // over the plan's variables, but those of loops
  std::string text;
  bool operator==(const EqualExprs&) const = default;
};

/// Two arena buffers with one place: `result` is written over `source`, element by element, by the step that reads
/// `source` last.
struct InPlace {
  BufferId source = {}, result = {};
  bool operator==(const InPlace&) const = default;
};

/// What the memory planner did; for people and tests. `mode` is arena, remap or off.
struct MemoryReport {
  std::string mode = "arena";
  uint64_t peakBytes = 0, unplannedBytes = 0, lowerBoundBytes = 0;
  uint64_t addedEdges = 0;
  std::vector<InPlace> inPlace;  // by result
  bool operator==(const MemoryReport&) const = default;
};

struct Plan {
  uint32_t version = kPlanVersion;
  std::string name;  // of the graph
  TargetRecord target;
  std::vector<std::string> decisions;  // graph-level choices, replayable; informative here
  Rows<FileDesc> files;
  Rows<DeviceDesc> devices = {{"cpu", DeviceKind::Cpu, 0}};
  MemoryReport memory;
  Rows<Constant> constants;
  Rows<Variable> variables;
  Rows<BufferDesc> buffers;
  Rows<KernelDesc> kernels;
  Rows<Step> steps;
  std::vector<Variant> variants;
  std::vector<Port> inputs, outputs;
  Rows<State> states;
  std::vector<EqualExprs> equalSizes;
  std::vector<Expectation> expectations;
  bool operator==(const Plan&) const = default;
};

/// What a buffer of an arena takes of it: units where it has a RunPlace, else bytes.
struct ArenaRange {
  uint64_t begin = 0, end = 0;
};
inline ArenaRange placeOf(const BufferDesc& buffer) {
  if (buffer.run) return {buffer.run->begin, buffer.run->end};
  return {buffer.offset, buffer.offset + buffer.bytes};
}

/// Whether an arena of the plan is laid out for the sizes of every run.
bool isLaidOutPerRun(const Plan& plan);
/// Of the intermediate buffers of one instance, on all devices, at the greatest sizes.
uint64_t arenaBytes(const Plan& plan);
/// The size of one arena of a device.
inline uint64_t& arenaBytes(DeviceDesc& device, MemorySpace space) {
  return space == MemorySpace::Shared ? device.sharedBytes : device.arenaBytes;
}
inline uint64_t arenaBytes(const DeviceDesc& device, MemorySpace space) {
  return space == MemorySpace::Shared ? device.sharedBytes : device.arenaBytes;
}
/// The device that holds a buffer; nothing for constants, which every device reads.
std::optional<DeviceId> deviceOf(const Plan& plan, BufferId buffer);
/// The device that a launch runs on.
DeviceId deviceOf(const Plan& plan, const Launch& launch);
/// Whether a device of this kind runs the kernel.
bool runsOn(const Plan& plan, const KernelDesc& kernel, std::string_view deviceKind);

/// The variables' names, in order: the names plan-level expressions print and parse with.
std::vector<std::string> variableNames(const Plan& plan);

}  // namespace svod
