// Kernels with a grid of workgroups.
#include <algorithm>
#include <set>

#include "plan/check.h"
#include "plan/check_parts.h"
#include "support/says.h"

namespace svod {

namespace {

constexpr uint64_t kMostThreads = 1 << 16;  // of a workgroup
constexpr size_t kMostAxes = 5;             // of a tensor map
constexpr uint64_t kMostOfAxis = 256;       // elements of an axis in one copy

Status checkImages(const Plan& plan, const Grid& grid, const std::string& where) {
  if (grid.images.empty()) return bad(where, "no image holds it");
  for (size_t i = 0; i < grid.images.size(); i++) {
    const KernelImage& image = grid.images[i];
    if (image.file >= plan.files.size()) return bad(where, noSuch("file", image.file, plan.files.size()));
    const FileDesc& file = plan.files[image.file];
    if (file.kind != FileKind::Image) return bad(where, {"its file '", file.path, "' is no image"});
    for (size_t other = 0; other < i; other++)
      if (const ImageTarget& known = plan.files[grid.images[other].file].image;
          known.device == file.image.device && known.arch == file.image.arch)
        return bad(where, {"'", file.path, "' is its second image for ", file.image.device, ":", file.image.arch});
    if (image.sharedBytes > kMaxPlanBytes) return bad(where, {"the image '", file.path, "' needs too much memory"});
  }
  return {};
}

Status checkAttributes(const Grid& grid, const std::string& where) {
  std::set<std::string_view> names;
  for (const LaunchAttribute& attribute : grid.attributes)
    if (attribute.name.empty() || !names.insert(attribute.name).second)
      return bad(where, attribute.name.empty() ? "an attribute has no name"
                                               : "the attribute '" + attribute.name + "' is there twice");
  return {};
}

Status checkTensorMap(const KernelDesc& kernel, const TensorMap& map, const std::string& where) {
  if (map.arg >= kernel.args.size()) return bad(where, noSuch("argument", map.arg, kernel.args.size()));
  const size_t axes = map.dims.size();
  if (axes == 0 || axes > kMostAxes || map.strides.size() != axes - 1 || map.box.size() != axes ||
      map.step.size() != axes)
    return bad(where, {"its lists are not those of 1 to ", kMostAxes, " axes"});
  if (std::ranges::any_of(map.box, [](uint64_t n) { return n == 0 || n > kMostOfAxis; }) ||
      std::ranges::any_of(map.step, [](uint64_t n) { return n == 0 || n > kMostOfAxis; }))
    return bad(where, {"a box or step is not from 1 to ", kMostOfAxis});
  if (map.offset > kernel.args[map.arg].bytes || map.offset % byteSize(map.dtype) != 0)
    return bad(where, {"the offset ", map.offset, " is no place in its argument"});
  if (map.swizzleBytes != 0 && map.swizzleBytes != 32 && map.swizzleBytes != 64 && map.swizzleBytes != 128)
    return bad(where, {"no rows of ", map.swizzleBytes, " bytes are permuted"});
  for (const Expr& dim : map.dims) SVOD_CHECK(checkValues(kernel, dim, where));
  for (const Expr& stride : map.strides) SVOD_CHECK(checkValues(kernel, stride, where));
  return {};
}

}  // namespace

Status checkValues(const KernelDesc& kernel, const Expr& expr, const std::string& where) {
  if (expr.varCount() <= kernel.values.size()) return {};
  return bad(where, {"an expression names a value beyond the ", kernel.values.size(), " of the kernel"});
}

Status checkGrid(const Plan& plan, const KernelDesc& kernel, const std::string& where) {
  const Grid& grid = *kernel.grid;
  for (const Expr& groups : grid.groups) SVOD_CHECK(checkValues(kernel, groups, where));
  uint64_t threads = 1;
  for (uint64_t n : grid.threads) {
    if (n == 0 || n > kMostThreads || threads * n > kMostThreads)
      return bad(where, {"a workgroup has not from 1 to ", kMostThreads, " threads"});
    threads *= n;
  }
  if (grid.sharedBytes > kMaxPlanBytes) return bad(where, "the memory of a workgroup is too large");
  SVOD_CHECK(checkAttributes(grid, where));
  for (size_t i = 0; i < grid.tensorMaps.size(); i++)
    SVOD_CHECK(checkTensorMap(kernel, grid.tensorMaps[i], where + "." + at("tensorMaps", i)));
  return checkImages(plan, grid, where);
}

}  // namespace svod
