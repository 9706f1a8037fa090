#include "model_files.h"

#include <algorithm>
#include <filesystem>

#include "data/atomic_write.h"
#include "data/safetensors.h"

namespace svod {

std::string weightPathOf(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".safetensors").string();
}

Status writeModelFiles(const std::string& path, const std::string& text, const std::vector<WrittenWeight>& weights) {
  const std::string weightPath = weightPathOf(path);
  std::error_code ignored;
  if (std::filesystem::exists(weightPath, ignored) && !isOwnSafetensors(weightPath))
    return fail(Diag::Io, "the weights of the graph belong into '" + weightPath + "', where another file stands",
                "give the graph another name, or move that file away");
  std::vector<NewSafeTensor> tensors;
  for (const WrittenWeight& w : weights)
    tensors.push_back(
        {w.name, *elementTypeFromName(toText(w.dtype)), {w.dims.begin(), w.dims.end()}, {w.data.data, w.data.bytes}});
  const NewSafetensors file = layOutSafetensors(std::move(tensors));
  const NewFile files[] = {{weightPath, file.chunks()}, {path, {std::as_bytes(std::span(text))}}};
  const auto isThere = [](const NewFile& f) { return holdsChunks(f.path, f.chunks); };
  return std::ranges::all_of(files, isThere) ? Status() : writeFilesAtomic(files);
}

}  // namespace svod
