#include "driver/join_code.h"

namespace svod {

Status joinCode(Compilation& c, std::span<CompiledKernel* const> kernels, std::span<const FunctionObject> functions,
                const CompileOptions& options) {
  JoinJob job{{}, functions, options.machine, options.tools.get(), options.linker};
  for (const CompiledKernel* kernel : kernels) job.kernels.push_back({kernel->name, *kernel});
  const size_t first = c.files.size();
  SVOD_TRY(std::vector<JoinedFile> files, options.target->join(job));
  for (JoinedFile& file : files) {
    const std::string& bytes = c.code.emplace_back(std::move(file.bytes));
    c.files.push_back({std::move(file.path), file.kind, {std::as_bytes(std::span(bytes))}, std::move(file.image)});
  }
  if (!options.target->hasGrid()) return {};
  for (size_t i = 0; i < kernels.size(); ++i) kernels[i]->desc.grid->images[0].file = FileId(first + i);
  return {};
}

}  // namespace svod
