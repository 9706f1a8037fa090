// What a GPU makes of a kernel: workgroups on a unit, spills, and what its memory does for a warp.
#pragma once
#include "driver/compile.h"
#include "report/report.h"

namespace svod {

/// `images` of a kernel with a grid: what each needs, in their order.
void addUnits(KernelInsight& insight, const KernelDesc& kernel, std::span<const ImageTarget> images);
/// Of a kernel with a grid. `files` are those of its plan, or of what is compiled. Images of which no
/// target knows the GPU are left out.
template <class File>
void addUnits(KernelInsight& insight, const KernelDesc& kernel, const std::vector<File>& files) {
  std::vector<ImageTarget> images;
  if (kernel.grid)
    for (const KernelImage& image : kernel.grid->images) images.push_back(files[image.file].image);
  addUnits(insight, kernel, std::span<const ImageTarget>(images));
}
/// What the compiler of the GPU says of the images of a kernel that was compiled now; after addUnits.
void addLogs(KernelInsight& insight, const CompiledKernel& kernel);
/// What its text says, and the compiler of the GPU, of a kernel that was compiled now; after addUnits.
void addText(KernelInsight& insight, const CompiledKernel& kernel);

}  // namespace svod
