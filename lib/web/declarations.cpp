#include "support/version.h"
#include "web/names.h"
#include "web/parts.h"

namespace svod::web {

namespace {

std::string_view arrayOf(ElementType type) {
  switch (type) {
    case ElementType::I8: return "Int8Array";
    case ElementType::I16: return "Int16Array";
    case ElementType::I32: return "Int32Array";
    case ElementType::I64: return "BigInt64Array";
    case ElementType::U16:
    case ElementType::F16:
    case ElementType::BF16: return "Uint16Array";
    case ElementType::U32: return "Uint32Array";
    case ElementType::U64: return "BigUint64Array";
    case ElementType::F32: return "Float32Array";
    case ElementType::F64: return "Float64Array";
    default: return "Uint8Array";
  }
}

std::string noteOf(ElementType type) {
  if (isPacked(type)) return ", " + std::to_string(8 / info(type).bits) + " in a byte, the first one lowest";
  return isFloat(type) && byteSize(type) < 4 ? ", as bits" : type == ElementType::Bool ? ", 0 or 1" : "";
}

constexpr const char* kCommon = R"TS(
/** Elements one after the other, the last axis fastest. */
export interface Tensor<T> {
  data: T;
  shape: number[];
}

)TS";

constexpr const char* kFunctions = R"TS(
export interface Options {
  /** A GPUDevice of the page, for this and other work. Without it the model has one of its own. */
  device?: object;
  powerPreference?: "low-power" | "high-performance";
  /** The weights, or where they are; without it the file beside the module, or what the module holds. */
  weights?: string | URL | Request | Response | ArrayBuffer | ArrayBufferView;
  /** Called as weights arrive, with bytes. */
  progress?: (done: number, total: number) => void;
  /** Ends a load. */
  signal?: AbortSignal;
}

/** What goes wrong. `code` is a name such as "input-mismatch" or "no-device"; `help` says what to do, or nothing. */
export class SvodError extends Error {
  readonly code: string;
  readonly help: string;
}

/** The graph on a device, with its weights and states. Runs take turns: calls may overlap. */
export interface Model {
  /** Inputs are read before it returns. Sizes follow from the inputs where they can. */
  run(inputs: Inputs, sizes?: Sizes): Promise<Outputs>;
  /** Gives the states their first values. */
  reset(): Promise<void>;
  readState<Name extends keyof States>(name: Name): Promise<Tensor<States[Name]>>;
  writeState<Name extends keyof States>(name: Name, value: States[Name] | Tensor<States[Name]>): Promise<void>;
  /** Frees the memory, and the device where that is its own. */
  destroy(): void;
  readonly device: object;
}

/** Compiles the kernels and puts the weights on a device. Rejects with a SvodError. */
export function load(options?: Options): Promise<Model>;
)TS";

class DeclarationText {
 public:
  explicit DeclarationText(const Plan& plan) : plan_(plan) {}

  std::string text(const std::string& prefix) const {
    return std::string(kWebMark) + inComment(plan_.name) + ", by version " + std::string(kVersion) + ": the types of " +
           prefix + ".js.\n" + kCommon + inputs() + sizes() + outputs() + states() + kFunctions;
  }

 private:
  static std::string member(const std::string& comment, std::string_view name, const std::string& type) {
    return "  /** " + inComment(comment) + " */\n  " + property(name) + type + ";\n";
  }

  std::string inputs() const {
    std::string text = "export interface Inputs {\n";
    for (const Port& port : plan_.inputs) {
      const ElementType type = plan_.buffers[port.buffer].dtype;
      const std::string array(arrayOf(type));
      text += member(typeText(plan_, type, port.shape) + noteOf(type), port.name,
                     ": " + array + " | Tensor<" + array + ">");
    }
    return text + "}\n\n";
  }

  std::string sizes() const {
    std::string text = "export interface Sizes {\n";
    for (const Variable& v : plan_.variables)
      if (v.kind == VariableKind::Free)
        text += member("from " + std::to_string(v.min) + " to " + std::to_string(v.max), v.name, "?: number");
    return text + "}\n\n";
  }

  std::string outputs() const {
    std::string text = "export interface Outputs {\n";
    for (const Port& port : plan_.outputs) {
      const ElementType type = plan_.buffers[port.buffer].dtype;
      text += member(typeText(plan_, type, port.shape) + noteOf(type), port.name,
                     ": Tensor<" + std::string(arrayOf(type)) + ">");
    }
    return text + "}\n\n";
  }

  std::string states() const {
    std::string text = "/** What is kept from run to run. */\nexport interface States {\n";
    for (const State& state : plan_.states) {
      const BufferDesc& buffer = plan_.buffers[state.buffer];
      std::vector<Expr> shape;
      for (const uint64_t dim : buffer.shape) shape.emplace_back(static_cast<int64_t>(dim));
      text += member(typeText(plan_, buffer.dtype, shape) + noteOf(buffer.dtype), state.name,
                     ": " + std::string(arrayOf(buffer.dtype)));
    }
    return text + "}\n";
  }

  const Plan& plan_;
};

}  // namespace

std::string declarationText(const Plan& plan, const WebOptions& options) {
  return DeclarationText(plan).text(options.prefix);
}

}  // namespace svod::web
