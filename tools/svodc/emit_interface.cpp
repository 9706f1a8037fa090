#include "emit_interface.h"

#include "data/sha256.h"
#include "embed/c_file.h"
#include "plan/json.h"

namespace svod {

namespace {

constexpr size_t kTagDigits = 16;  // 64 bits: nobody builds enough models for two to agree by chance

/// Texts one after the other, so that their borders count.
class Digest {
 public:
  void add(std::string_view text) {
    hash_.update(std::to_string(text.size()) + ":");
    hash_.update(text);
  }
  void add(std::span<const CompiledKernel> kernels) {
    for (const CompiledKernel& k : kernels) add(k.code);
  }
  void add(std::span<const FunctionObject> functions) {
    for (const FunctionObject& f : functions) add(f.object);
  }
  void add(std::span<const std::span<const std::byte>> chunks) {
    for (std::span<const std::byte> chunk : chunks) hash_.update(chunk);
  }
  std::string finish() { return hash_.finish(); }

 private:
  Sha256 hash_;
};

}  // namespace

std::string contentOf(const Compilation& compilation) {
  Digest digest;
  digest.add(toJson(compilation.plan));
  digest.add(compilation.kernels);
  digest.add(compilation.functionObjects);
  for (const CompiledVariant& variant : compilation.variants) {
    digest.add(variant.kernels);
    digest.add(variant.functionObjects);
  }
  for (const PlanFile& file : compilation.files)
    if (file.kind == FileKind::Weights) digest.add(file.chunks);
  return digest.finish();
}

Result<Interface> taggedInterface(const EmitSource& from) {
  SVOD_TRY(Interface made, interfaceOf(from.compilation.plan, from.embed));
  Digest digest;
  digest.add(from.content);
  digest.add(headerText(from.compilation.plan, made));
  digest.add(made.weights.section);
  made.tag = digest.finish().substr(0, kTagDigits);
  return made;
}

}  // namespace svod
