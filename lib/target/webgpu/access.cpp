#include "target/webgpu/access.h"

#include <algorithm>

#include "ir/local_memory.h"
#include "plan/wgsl_arguments.h"
#include "target/webgpu/body.h"

namespace svod::webgpu {

namespace {

std::string slotOf(UOp param) { return std::to_string(param.argAs<SlotArg>().slot); }

/// Elements with all stages of a ring, and what a swizzle needs.
int64_t elementsOf(UOp buffer) {
  const SlotArg& slot = buffer.argAs<SlotArg>();
  const bool isPlain = slot.ring == 0 && slot.swizzle == 0;
  return isPlain ? buffer.maxNumel() : localBytes(buffer) / byteSize(buffer.dtype());
}

struct Parts {
  int bits;
  std::string first;  // how many elements of the memory lie in front of those of the argument
};

/// An element of the words of an argument, at `i`.
std::string loadBody(const std::string& get, DType dtype, const Parts& parts) {
  const int bits = parts.bits;
  if (bits == 64) return "let w = " + parts.first + " + 2u * i;\n  return vec2u(" + get + "(w), " + get + "(w + 1u));";
  if (bits == 32) {
    const std::string word = get + "(" + parts.first + " + i)";
    return "return " +
           (typeName(dtype) == "u32" ? word : "bitcast<" + std::string(typeName(dtype)) + ">(" + word + ")") + ";";
  }
  const bool isByte = bits == 8;
  const std::string at =
      "let e = " + parts.first + " + i;\n  let w = " + get + "(e >> " + (isByte ? "2u" : "1u") + ");\n  ";
  const std::string shift = isByte ? "8u * (e & 3u)" : "16u * (e & 1u)", rest = isByte ? "24u" : "16u";
  if (isUnsigned(dtype)) return at + "return (w >> (" + shift + ")) & " + (isByte ? "0xffu" : "0xffffu") + ";";
  return at + "return bitcast<i32>(w << (" + rest + " - " + shift + ")) >> " + rest + ";";
}

std::string storeBody(const std::string& slot, DType dtype, const Parts& parts) {
  const int bits = parts.bits;
  const std::string set = "set" + slot;
  if (bits == 64) return "let w = " + parts.first + " + 2u * i;\n  " + set + "(w, x.x);\n  " + set + "(w + 1u, x.y);";
  if (bits == 32)
    return set + "(" + parts.first + " + i, " + (typeName(dtype) == "u32" ? "x" : "bitcast<u32>(x)") + ");";
  const bool isByte = bits == 8;
  const std::string mask = isByte ? "0xffu" : "0xffffu";
  return "let e = " + parts.first + " + i;\n  let s = " + (isByte ? "8u * (e & 3u)" : "16u * (e & 1u)") + ";\n  put" +
         slot + "(e >> " + (isByte ? "2u" : "1u") + ", " + mask + " << s, (u32(x) & " + mask + ") << s);";
}

}  // namespace

std::string loadText(UOp address, int lane, const Values& values) {
  const UOp a = behindAliases(address), storage = storageOf(a);
  const std::string element = values.element(a.src(1), lane);
  if (storage.op() == Op::Param) return "load" + slotOf(storage) + "(" + element + ")";
  return values.name(storage) + "[" + element + "]";
}

std::string storeText(UOp address, int lane, const std::string& value, const Values& values) {
  const UOp a = behindAliases(address), storage = storageOf(a);
  const std::string element = values.element(a.src(1), lane);
  if (storage.op() == Op::Param) return "store" + slotOf(storage) + "(" + element + ", " + value + ");";
  return values.name(storage) + "[" + element + "] = " + value + ";";
}

std::string accessFunctions(std::string_view text, size_t slot, DType dtype) {
  const std::string number = std::to_string(slot), type(typeName(dtype)), bytes = wordText(wordOfArgument(slot));
  const int bits = 8 * byteSize(dtype);
  const Parts parts{bits, bits == 8 ? bytes : "(" + bytes + (bits == 16 ? " >> 1u)" : " >> 2u)")};
  std::string all;
  if (text.find("load" + number + "(") != text.npos)
    all += "fn load" + number + "(i: u32) -> " + type + " {\n  " + loadBody("get" + number, dtype, parts) + "\n}\n";
  if (text.find("store" + number + "(") != text.npos)
    all += "fn store" + number + "(i: u32, x: " + type + ") {\n  " + storeBody(number, dtype, parts) + "\n}\n";
  return all;
}

void printLoad(UOp load, WgslBody& body) {
  for (int lane = 0; lane < load.lanes(); ++lane) {
    const std::string text = loadText(load.src(0), lane, body.values());
    if (load.srcCount() < 3) {
      body.define(load, lane, text);
      continue;
    }
    const std::string name = body.values().laneName(load, lane);
    body.line("var " + name + ": " + std::string(typeName(load.dtype())) + " = " +
              body.values().ref(load.src(1), lane) + ";");
    body.line("if (" + body.values().ref(load.src(2), lane) + ") { " + name + " = " + text + "; }");
  }
}

void printStore(UOp store, WgslBody& body) {
  const int lanes = std::max(store.src(0).lanes(), store.src(1).lanes());
  for (int lane = 0; lane < lanes; ++lane) {
    const std::string text = storeText(store.src(0), lane, body.values().ref(store.src(1), lane), body.values());
    body.line(store.srcCount() == 3 ? "if (" + body.values().ref(store.src(2), lane) + ") { " + text + " }" : text);
  }
}

int64_t bytesHeld(UOp buffer) { return elementsOf(buffer) * std::max(byteSize(buffer.dtype()), 4); }

std::string arrayType(UOp buffer) {
  return "array<" + std::string(typeName(buffer.dtype())) + ", " + std::to_string(elementsOf(buffer)) + ">";
}

}  // namespace svod::webgpu
