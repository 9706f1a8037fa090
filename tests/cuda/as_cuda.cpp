// Makes a plan of target emulated one for CUDA devices of the mock, which interprets the same threads, or one of target
// cuda that holds CUDA C, which the mock runs on an emulated grid, compiled by the C compiler of this machine:
//   as_cuda PLAN NEW_PLAN ARCH[,ARCH]... [LEAST_DRIVER]
// All images are for each of the architectures then; of a plan that has CUDA C for several, each is for its own.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <set>
#include <sstream>

#include "cuda/mock_image_text.h"
#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "plan/directory.h"
#include "plan/variants.h"

using namespace svod;

namespace {

constexpr std::string_view kSource = "source:";

struct Converter {
  std::string from, to;
  std::vector<std::string> archs;
  uint32_t driver = 12000;
  Plan plan;
  std::deque<std::string> kept;                  // what chunks point to
  std::map<std::string, std::string> libraries;  // of CUDA C, by architecture
  std::vector<PlanFile> files;

  Result<std::span<const std::byte>> read(const FileDesc& file) {
    SVOD_TRY(std::string text, readWholeFile(from + "/" + file.path));
    const std::string& at = kept.emplace_back(std::move(text));
    const auto bytes = std::as_bytes(std::span(at));
    return isCode(file.kind) ? withoutRecord(bytes) : bytes;
  }

  /// A library with all kernels that have an image for `arch`. Its files lie beside `path` until it is read.
  Result<std::string> libraryOf(const std::string& arch) {
    if (const auto known = libraries.find(arch); known != libraries.end()) return known->second;
    std::string text = "#include \"prelude.h\"\n";
    for (const KernelDesc& kernel : plan.kernels)
      for (size_t i = 0; kernel.grid && i < kernel.grid->images.size(); i++) {
        const FileDesc& file = plan.files[kernel.grid->images[i].file];
        if (file.image.arch != arch) continue;
        SVOD_TRY(const auto bytes, read(file));
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()) += "\n";
      }
    const std::string source = to + ".c", library = to + ".so";
    SVOD_CHECK(writeFileAtomic(source, text));
    const std::string flags =
        "-std=gnu11 -w -Werror=implicit-function-declaration -O1 -shared -fPIC -fwrapv -fno-strict-aliasing "
        "-ffp-contract=off";
    const std::string command = "cc " + flags + " -I " SVOD_GRID_DIR " -o '" + library + "' '" + source + "'";
    if (std::system(command.c_str()) != 0) return fail(Diag::CompileFailed, command);
    SVOD_TRY(libraries[arch], readWholeFile(library));
    std::remove(source.c_str()), std::remove(library.c_str());
    return libraries[arch];
  }

  Result<PlanFile> imageFor(const KernelDesc& kernel, const FileDesc& file, const std::string& arch) {
    const bool isText = file.image.arch.starts_with(kSource);
    std::string payload;
    if (isText) {
      SVOD_TRY(payload, libraryOf(file.image.arch));
    } else {
      SVOD_TRY(const auto bytes, read(file));
      payload.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    const std::string& image = kept.emplace_back(mockImage(kernel, {arch}, isText ? "grid" : "thread", payload));
    const std::string path = kernel.symbol + "." + arch;
    return PlanFile{path, FileKind::Image, {std::as_bytes(std::span(image))}, {"cuda", arch, driver}};
  }

  Status addImages(KernelDesc& kernel, bool isForSeveral) {
    std::vector<KernelImage>& images = kernel.grid->images;
    const size_t count = images.size();
    for (size_t i = 0; i < count; i++) {
      const FileId id = images[i].file;
      const std::string own = isForSeveral ? plan.files[id].image.arch.substr(kSource.size()) : archs.front();
      SVOD_TRY(files[id], imageFor(kernel, plan.files[id], own));
    }
    // The others follow all files, so that the ids of these stay.
    for (size_t i = 1; i < archs.size() && !isForSeveral; i++) {
      SVOD_TRY(PlanFile image, imageFor(kernel, plan.files[images[0].file], archs[i]));
      images.push_back({FileId(files.size()), 0, 0});
      files.push_back(std::move(image));
    }
    return {};
  }

  Status run() {
    SVOD_TRY(plan, readPlanDirectory(from));
    std::set<std::string> known;
    for (const FileDesc& file : plan.files) {
      PlanFile& same = files.emplace_back(PlanFile{file.path, file.kind, {}});
      if (file.kind == FileKind::Image) {
        known.insert(file.image.arch);
        continue;
      }
      SVOD_TRY(const auto bytes, read(file));
      same.chunks = {bytes};
    }
    for (KernelDesc& kernel : plan.kernels)
      if (kernel.grid) SVOD_CHECK(addImages(kernel, known.size() > 1));
    for (Variant& variant : plan.variants)
      if (const std::string begin = variantName("cuda", kSource); variant.cpu.starts_with(begin))
        variant.cpu = variantName("cuda", variant.cpu.substr(begin.size()));
    for (DeviceDesc& device : plan.devices)
      if (device.kind == "emulated") device.kind = "cuda";
    return writePlanDirectory(to, plan, files);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Converter converter{argv[1], argv[2], {}, 12000, {}, {}, {}, {}};
  std::istringstream list(argv[3]);
  for (std::string arch; std::getline(list, arch, ',');) converter.archs.push_back(arch);
  if (argc > 4) converter.driver = static_cast<uint32_t>(std::atoi(argv[4]));
  const Status status = converter.run();
  if (!status) std::fprintf(stderr, "%s\n", toText(status.error()).c_str());
  return status ? 0 : 1;
}
