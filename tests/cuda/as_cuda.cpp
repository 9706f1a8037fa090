// Makes a plan of target emulated one for CUDA devices of the mock, which interprets the same threads:
//   as_cuda PLAN NEW_PLAN ARCH[,ARCH]... [LEAST_DRIVER]
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "cuda/mock_image_text.h"
#include "data/mapped_file.h"
#include "plan/directory.h"
#include "plan/image_archive.h"

using namespace svod;

namespace {

struct Converter {
  std::string from, to;
  std::vector<std::string> archs;
  uint32_t driver = 12000;
  Plan plan;
  std::vector<std::string> kept;  // what chunks point to

  Result<std::span<const std::byte>> read(const FileDesc& file) {
    SVOD_TRY(std::string text, readWholeFile(from + "/" + file.path));
    const std::string& at = kept.emplace_back(std::move(text));
    const auto bytes = std::as_bytes(std::span(at));
    return isCode(file.kind) ? withoutRecord(bytes) : bytes;
  }

  Result<PlanFile> imageFor(const std::string& arch, std::span<const std::byte> threads,
                            std::vector<std::string>& texts) {
    std::vector<KernelCode> kernels;
    const size_t first = texts.size();
    for (const KernelDesc& kernel : plan.kernels) {
      if (!kernel.grid) continue;
      const auto code = codeIn(threads, kernel.symbol);
      if (!code) return fail(Diag::BadPlan, "no text of '" + kernel.symbol + "'");
      const std::string_view text(reinterpret_cast<const char*>(code->data()), code->size());
      texts.push_back(mockImage(kernel, {arch}, "thread", text));
    }
    size_t next = first;
    for (const KernelDesc& kernel : plan.kernels)
      if (kernel.grid) kernels.push_back({kernel.symbol, texts[next++]});
    const auto bytes = std::as_bytes(std::span(kept.emplace_back(joinImage(kernels))));
    return PlanFile{"kernels." + arch + ".bin", FileKind::Image, {bytes}, {"cuda", arch, driver}};
  }

  Status run() {
    SVOD_TRY(plan, readPlanDirectory(from));
    kept.reserve(1000);
    std::vector<PlanFile> files;
    std::vector<std::string> texts;
    texts.reserve(100000);
    std::vector<FileId> images;
    std::span<const std::byte> threads;  // of the only image
    for (const FileDesc& file : plan.files) {
      SVOD_TRY(const auto bytes, read(file));
      if (file.kind != FileKind::Image) {
        files.push_back({file.path, file.kind, {bytes}});
        continue;
      }
      images.push_back(FileId(files.size()));
      SVOD_TRY(PlanFile image, imageFor(archs.front(), bytes, texts));
      files.push_back(std::move(image));
      threads = bytes;
    }
    // The others follow all files, so that the ids of these stay.
    for (size_t i = 1; i < archs.size(); i++) {
      images.push_back(FileId(files.size()));
      SVOD_TRY(PlanFile image, imageFor(archs[i], threads, texts));
      files.push_back(std::move(image));
    }
    for (KernelDesc& kernel : plan.kernels) {
      if (!kernel.grid) continue;
      kernel.grid->images.clear();
      for (FileId image : images) kernel.grid->images.push_back({image, 0, 0});
    }
    for (DeviceDesc& device : plan.devices)
      if (device.kind == "emulated") device.kind = "cuda";
    return writePlanDirectory(to, plan, files);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Converter converter{argv[1], argv[2], {}, 12000, {}, {}};
  std::istringstream list(argv[3]);
  for (std::string arch; std::getline(list, arch, ',');) converter.archs.push_back(arch);
  if (argc > 4) converter.driver = static_cast<uint32_t>(std::atoi(argv[4]));
  const Status status = converter.run();
  if (!status) std::fprintf(stderr, "%s\n", toText(status.error()).c_str());
  return status ? 0 : 1;
}
