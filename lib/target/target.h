// A target: what code is generated for, as one row. lib/target/NAME/target.cpp has a row with all that it names, and
// target/targets.cpp lists the rows; nothing else knows a target by name.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/caps.h"
#include "linearize/linear.h"
#include "lower/legalize.h"
#include "machine/machine.h"
#include "plan/plan.h"
#include "support/result.h"

namespace svod {

class Linker;

/// What a target was told by its flags, and the tools that it opened by them: each target has a type of its own.
class TargetTools {
 public:
  virtual ~TargetTools() = default;
  /// What code depends on besides the kernel and the machine.
  virtual std::string id() const { return {}; }
  /// Whether join() takes functions of C files. Errors: Unsupported, with the way out.
  virtual Status takesFunctions() const { return {}; }
};

/// The flags of a target (target/flags.def) by name; one that was not given may be missing, or empty.
using TargetFlags = std::map<std::string, std::string, std::less<>>;

/// A row of target/flags.def.
struct TargetFlag {
  std::string_view name;
  bool mayIdle = false;  // may be given where a plan has no such target, as it says where a tool is
};

struct ToolRequest {
  TargetFlags flags;
  std::span<const Machine> machines = {};     // that the plan is for
  std::vector<std::string> environment = {};  // what tools may see of it, as NAME=value
  std::string tempDirectory = {};
  bool isReproducible = false;  // refuse what depends on the machine that compiles
};

/// A kernel to write down.
struct EmitJob {
  Graph& graph;  // of `linear`
  const LinearKernel& linear;
  KernelDesc& desc;  // of a grid: attributes of its launches and what an image needs may be added
  const Machine& machine;
  const TargetTools* tools = nullptr;  // null: those without flags
  int optLevel = 1;
  bool keepSource = false, keepForms = false;
};

/// What the compiler of a device says of the image of a kernel.
struct ImageNotes {
  std::string arch;
  uint32_t spillBytes = 0;  // stored and loaded by a thread
  std::vector<std::string> warnings;
};

/// What becomes of a kernel.
struct KernelCode {
  std::string code;    // what is joined: text, a relocatable object or an image
  std::string object;  // joined as well: what text became that is compiled kernel by kernel
  std::string source;  // with keepSource: as text
  std::map<std::string, std::string, std::less<>> forms;  // with keepForms: by TargetFiles::name
  std::vector<ImageNotes> notes;
};

/// The functions of a C file, compiled; the first are those that compiled C may call without its knowledge.
struct FunctionObject {
  std::string file;  // as the graph names it
  std::string object;
};

/// What becomes one file of code, or an image for each kernel.
struct JoinJob {
  struct Part {
    std::string_view name;
    const KernelCode& code;
  };
  std::vector<Part> kernels;
  std::span<const FunctionObject> functions;
  const Machine& machine;
  const TargetTools* tools = nullptr;
  Linker* linker = nullptr;  // must be set where machine code for processors is joined
  bool isEmpty() const { return kernels.empty() && functions.empty(); }
};

/// A file of the plan.
struct JoinedFile {
  std::string path;
  FileKind kind = FileKind::Code;
  std::string bytes;
  ImageTarget image = {};  // of an image: what a device needs to load it
};

/// A kernel of a device as it is for one architecture.
struct BuiltImage {
  const KernelDesc& desc;
  const KernelCode& code;
  const ImageTarget& image;
  std::string bytes;
};
struct KernelFile {
  std::string name, bytes;
};
/// A kind of --emit: a folder with kernels as files by themselves.
struct TargetFiles {
  std::string_view name, what, extension;
  /// By kernel, the images that it has. Errors: Unsupported where there is none of that form. Null: KernelCode::forms
  /// has the text of each file.
  Result<std::vector<KernelFile>> (*ofImages)(std::span<const std::vector<BuiltImage>> kernels) = nullptr;
  bool needsForms = true;     // kernels are compiled anew for it
  bool hasFunctions = false;  // and files for functions of C files
};

struct Target {
  std::string_view name, what;
  /// What runs it, as DeviceDesc::kind. Kernels of any kind but cpu have a grid, and run on devices besides the host.
  std::string_view deviceKind;
  /// The machine of a triple and the name of a processor, as flags give them; empty ones are this machine.
  Result<Machine> (*machine)(std::string_view triple, std::string_view processor);
  /// What may be done with kernels, and which ops the code has, of a machine that `machine` returns.
  Caps (*caps)(const Machine& machine, Numerics numerics);
  LegalizeOptions (*legal)(const Machine& machine, Numerics numerics);
  /// Code of one kernel; called for several kernels at once.
  Result<KernelCode> (*emit)(const EmitJob& job);
  /// Files of the plan, the first of which has the kernels: none where there is no code. With a grid there is one for
  /// each kernel, in their order.
  Result<std::vector<JoinedFile>> (*join)(const JoinJob& job);

  std::string_view usualProcessor = {};  // native where `machine` takes usualCpu() for an empty name
  /// The flag that names processors, and the names in its value, in the order of the machines of a plan. Null: --cpu.
  std::string_view machineFlag = "cpu";
  Result<std::vector<std::string>> (*machineNames)(std::string_view value) = nullptr;
  /// Null where there is nothing to open. Errors: Usage for a value; CompileFailed for a tool that is not there.
  Result<std::shared_ptr<const TargetTools>> (*open)(const ToolRequest& request) = nullptr;
  std::span<const TargetFlag> flags = {};
  /// A flag of it and the value that leaves out what only a run of the plan needs.
  std::pair<std::string_view, std::string_view> withoutBuild = {};
  std::span<const TargetFiles> files = {};
  /// One relocatable object of several kernels with different names, which a code generator that is set up once makes
  /// in less time. Null where nothing makes objects.
  Result<std::string> (*emitTogether)(std::span<const LinearKernel> kernels, const Machine& machine) = nullptr;

  /// A legalized kernel as text, for people: the name of that form, empty where there is none, and the function.
  std::string_view textForm = {};
  Result<std::string> (*print)(const LinearKernel& kernel, std::string_view triple,
                               std::string_view processor) = nullptr;

  /// Whether its images are WGSL, which pages run.
  bool isForPages = false;

  bool hasGrid() const { return deviceKind != DeviceKind::Cpu; }
};

std::span<const Target* const> targets();
/// Errors: Usage, with the names there are.
Result<const Target*> targetByName(std::string_view name);

}  // namespace svod
