#include "driver/c_functions.h"

#include <algorithm>

#include "compile/compilation.h"
#include "data/mapped_file.h"
#include "data/sha256.h"
#include "driver/describe_kernel.h"
#include "driver/kernel_cache.h"
#include "ir/c_function.h"
#include "toolchain/clang.h"

namespace svod {

namespace {

bool isNumber(UOp operand) { return operand.dtype() == DType::Index; }

std::span<const UOp> operandsOf(UOp call) {
  return call.src().first(static_cast<size_t>(call.argAs<CustomArg>().inputs));
}

/// The type that C has for elements, or of their bits.
std::string_view elementText(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::I8: return "int8_t";
    case DType::I16: return "int16_t";
    case DType::I32: return "int32_t";
    case DType::I64:
    case DType::Index: return "int64_t";
    case DType::U16:
    case DType::F16:
    case DType::BF16: return "uint16_t";
    case DType::U32: return "uint32_t";
    case DType::U64: return "uint64_t";
    case DType::F32: return "float";
    case DType::F64: return "double";
    default: return isPacked(dtype) && isInt(dtype) && !isUnsigned(dtype) ? "int8_t" : "uint8_t";
  }
}

bool holds(const CType& type, DType dtype) {
  using Kind = CType::Kind;
  const std::string_view wanted = elementText(dtype);
  if (type.kind == Kind::Float && type.bits == 16)
    return type.text.find("__bf16") != type.text.npos ? dtype == DType::BF16 : dtype == DType::F16;
  if (wanted == "bool") return type.kind == Kind::Bool || (type.kind == Kind::Unsigned && type.bits == 8);
  if (wanted == "float" || wanted == "double")
    return type.kind == Kind::Float && type.bits == (wanted == "float" ? 32 : 64);
  const Kind kind = wanted.starts_with("u") ? Kind::Unsigned : Kind::Signed;
  return type.kind == kind && type.bits == 8 * static_cast<int>(byteSize(dtype));
}

/// How the function has to be declared for a call.
std::string signatureFor(UOp call, const std::string& function) {
  std::string text = "void " + function + "(" + std::string(elementText(call.dtype())) + "* result";
  size_t arrays = 0, numbers = 0;
  for (UOp s : operandsOf(call))
    if (!isNumber(s)) text += ", const " + std::string(elementText(s.dtype())) + "* x" + std::to_string(arrays++);
  for (UOp s : operandsOf(call))
    if (isNumber(s)) text += ", int64_t value" + std::to_string(numbers++);
  return text + ")";
}

std::string textOf(const CFunction& function, const std::string& name) {
  std::string text = function.result.text + " " + name + "(";
  for (const CType& p : function.parameters) text += (&p == function.parameters.data() ? "" : ", ") + p.text;
  return text + ")";
}

bool fits(const CFunction& function, UOp call) {
  std::vector<UOp> arrays{call}, numbers;
  for (UOp s : operandsOf(call)) (isNumber(s) ? numbers : arrays).push_back(s);
  if (function.result.kind != CType::Kind::Void || function.result.isPointer) return false;
  if (function.parameters.size() != arrays.size() + numbers.size()) return false;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const CType& p = function.parameters[i];
    const bool isArray = i < arrays.size();
    if (p.isPointer != isArray || !holds(p, isArray ? arrays[i].dtype() : DType::I64)) return false;
    if (isArray && i == 0 && p.isConst) return false;
    if (isArray && i > 0 && !p.isConst) return false;
  }
  return true;
}

std::string calledAt(CCallPlaces::const_iterator place, const CCallPlaces& places) {
  if (place == places.end()) return "a custom calls its functions";
  return "called at " + place->second.file + ":" + std::to_string(place->second.line);
}

Status checkCall(UOp call, const CFunctionName& name, const CFile& file, const std::optional<CFunction>& function) {
  const std::string help = "declare it so: " + signatureFor(call, name.function);
  if (!function) return fail(Diag::BadAttribute, "'" + file.name + "' has no function '" + name.function + "'", help);
  const std::string place = "'" + name.function + "' at " + file.name + ":" + std::to_string(function->place.line);
  if (!function->isDefined)
    return fail(Diag::BadAttribute, place + " is declared, but has no body", "define it in '" + file.name + "'");
  if (!fits(*function, call))
    return fail(Diag::BadAttribute, place + " takes other parameters: " + textOf(*function, name.function), help);
  return {};
}

}  // namespace

Status checkCFunctions(const Model& model, const CFiles& files, const CpuTarget& cpu, const CCallPlaces& places,
                       std::set<std::string>* filesRead) {
  std::map<std::string, std::optional<CFunction>> functions;
  for (UOp call : toposort(model.sink)) {
    const auto name = call.op() == Op::Custom ? cFunctionOf(call.argAs<CustomArg>().name) : std::nullopt;
    const auto file = name ? files.find(name->source) : files.end();
    if (file == files.end()) continue;
    auto known = functions.find(name->text());
    const auto place = places.find(name->text());
    if (known == functions.end()) {
      Result<std::optional<CFunction>> found = findFunction(file->second, name->function, cpu, filesRead);
      if (!found) return fail(std::move(found.error()).withNote(calledAt(place, places)));
      known = functions.emplace(name->text(), std::move(*found)).first;
    }
    Status good = checkCall(call, *name, file->second, known->second);
    if (!good) return fail(std::move(good.error()).at(place == places.end() ? SourceLoc() : place->second));
  }
  return {};
}

CFile withKernels(const CFile& file, std::span<const CCall> calls) {
  CFile made = file;
  made.hidesNames = true;
  made.text += "\n#line 1 \"kernels\"\n";
  for (const CCall& call : calls) {
    made.text += "__attribute__((visibility(\"default\"))) void " + call.symbol +
                 "(void* const* svod_arrays, const __INT64_TYPE__* svod_numbers, __INT64_TYPE__ svod_begin,\n"
                 "    __INT64_TYPE__ svod_end, void* svod_scratch) {\n"
                 "  (void)svod_numbers, (void)svod_begin, (void)svod_end, (void)svod_scratch;\n  " +
                 call.function + "(";
    for (size_t i = 0; i < call.arrays; ++i)
      made.text += (i == 0 ? "" : ", ") + ("svod_arrays[" + std::to_string(i)) + "]";
    for (size_t i = 0; i < call.numbers; ++i) made.text += ", svod_numbers[" + std::to_string(i) + "]";
    made.text += ");\n}\n";
  }
  return made;
}

namespace {

/// What a call of the schedule says, and its kernel.
struct Use {
  CFunctionName name;
  KernelDesc desc;
  CCall call;
};

Use useOf(const ScheduleItem& item, const CFunctionName& name, const Schedule& schedule) {
  Use use{name, {}, {"", name.function, item.args.size(), item.values.size()}};
  KernelDesc& k = use.desc;
  std::string key = name.text();
  for (size_t i = 0; i < item.values.size(); ++i) k.values.push_back("value" + std::to_string(i));
  Expr bytes;
  for (size_t i = 0; i < item.args.size(); ++i) {
    const ScheduleBuffer& buffer = schedule.buffers[static_cast<size_t>(item.args[i])];
    const ElementType dtype = storedType(buffer.dtype);
    k.args.push_back({dtype, item.writes[i] ? Mode::Write : Mode::Read,
                      memoryBytes(dtype, static_cast<uint64_t>(buffer.maxElements))});
    bytes = bytes + Expr::variable(static_cast<uint32_t>(k.values.size())) * static_cast<int64_t>(byteSize(dtype));
    k.values.push_back("elements" + std::to_string(i));
    key += " " + std::to_string(static_cast<int>(dtype)) + " " + std::to_string(k.args.back().bytes);
  }
  k.bytes = std::move(bytes);
  k.symbol = k.name = use.call.symbol = name.function + "_" + sha256Hex(key).substr(0, 8);
  return use;
}

std::string keyOf(const CFile& text, const std::set<std::string>& included, const CompileOptions& options) {
  std::string key = options.cache->compiler() + "\nfunctions of C\n" + toText(options.machine) + "\n" +
                    std::to_string(options.optLevel) + "\n" + sha256Hex(text.text) + "\n";
  for (const std::string& path : included)
    if (path != text.name) key += path + " " + sha256Hex(readWholeFile(path).value_or("")) + "\n";
  return sha256Hex(key);
}

Result<std::string> objectOf(const CFile& file, std::span<const CCall> calls, const CompileOptions& options) {
  const CFile text = withKernels(file, calls);
  const CpuTarget& cpu = std::get<CpuTarget>(options.machine);
  const OptLevel level = options.optLevel == 0 ? OptLevel::O0 : OptLevel::O1;
  if (options.cache == nullptr) return compileC(text, cpu, level);
  std::set<std::string> included;
  SVOD_CHECK(findFunction(file, calls[0].function, cpu, &included));
  const std::string key = keyOf(text, included, options);
  if (std::optional<std::string> kept = options.cache->findObject(key)) return std::move(*kept);
  SVOD_TRY(std::string object, compileC(text, cpu, level));
  options.cache->keepObject(key, object);
  return object;
}

Result<const CompileOptions*> hostOptions(std::span<const CompileOptions> byTarget) {
  const auto host = std::ranges::find(byTarget, DeviceKind::Cpu, [](const auto& o) { return o.target->deviceKind; });
  if (host == byTarget.end())
    return fail(Diag::Unsupported,
                "functions of C files are for processors, not for target " + std::string(byTarget[0].target->name),
                "compile with --target cpu or c");
  if (host->tools) SVOD_CHECK(host->tools->takesFunctions());
  return &*host;
}

using Calls = std::map<std::string, std::vector<CCall>>;  // by file

Result<std::vector<FunctionObject>> objectsOf(const Calls& calls, const CompileOptions& options) {
  std::vector<FunctionObject> objects;
  SVOD_TRY(std::string memory, compileMemoryFunctions(std::get<CpuTarget>(options.machine)));
  objects.push_back({"memory.c", std::move(memory)});
  for (const auto& [file, list] : calls) {
    SVOD_TRY(std::string object, objectOf(options.cFiles.at(file), list, options));
    objects.push_back({file, std::move(object)});
  }
  return objects;
}

}  // namespace

Status compileCFunctions(Compilation& c, std::span<const CompileOptions> byTarget,
                         std::span<const CompileOptions> variants) {
  Calls calls;
  for (ScheduleItem& item : c.schedule.items) {
    const auto name = item.kind == ItemKind::HostCall ? cFunctionOf(item.function) : std::nullopt;
    if (!name || !byTarget[0].cFiles.contains(name->source)) continue;
    Use use = useOf(item, *name, c.schedule);
    auto known = std::ranges::find(c.functions, use.desc.symbol, &KernelDesc::symbol);
    item.kind = ItemKind::Launch;
    item.kernel = static_cast<int>(c.kernels.size() + static_cast<size_t>(known - c.functions.begin()));
    if (known != c.functions.end()) continue;
    c.functions.push_back(std::move(use.desc));
    calls[name->source].push_back(std::move(use.call));
  }
  if (calls.empty()) return {};
  SVOD_TRY(const CompileOptions* host, hostOptions(byTarget));
  SVOD_TRY(c.functionObjects, objectsOf(calls, *host));
  for (size_t v = 0; v < variants.size(); ++v) {
    if (variants[v].target->hasGrid()) continue;
    SVOD_TRY(c.variants[v].functionObjects, objectsOf(calls, variants[v]));
  }
  return {};
}

}  // namespace svod
