// Makes a plan of target emulated one for CUDA devices of the mock, which interprets the same threads, or one of target
// cuda that holds CUDA C, which the mock runs on an emulated grid, compiled by the C compiler of this machine:
//   as_cuda PLAN NEW_PLAN ARCH[,ARCH]... [LEAST_DRIVER]
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "cuda/mock_image_text.h"
#include "data/atomic_write.h"
#include "data/mapped_file.h"
#include "plan/directory.h"
#include "plan/image_archive.h"

using namespace svod;

namespace {

/// A library with all kernels of an image of CUDA C. Its files lie beside `path` until it is read.
Result<std::string> libraryOf(const Plan& plan, std::span<const std::byte> image, const std::string& path) {
  std::string text = "#include \"prelude.h\"\n";
  for (const KernelDesc& kernel : plan.kernels)
    if (const auto code = kernel.grid ? codeIn(image, kernel.symbol) : std::nullopt)
      text.append(reinterpret_cast<const char*>(code->data()), code->size()) += "\n";
  const std::string source = path + ".c", library = path + ".so";
  SVOD_CHECK(writeFileAtomic(source, text));
  const std::string flags =
      "-std=gnu11 -w -Werror=implicit-function-declaration -O1 -shared -fPIC -fwrapv -fno-strict-aliasing "
      "-ffp-contract=off";
  const std::string command = "cc " + flags + " -I " SVOD_GRID_DIR " -o '" + library + "' '" + source + "'";
  if (std::system(command.c_str()) != 0) return fail(Diag::CompileFailed, command);
  Result<std::string> read = readWholeFile(library);
  std::remove(source.c_str()), std::remove(library.c_str());
  return read;
}

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

  Result<PlanFile> imageFor(const std::string& arch, const FileDesc& file, std::span<const std::byte> threads,
                            std::vector<std::string>& texts) {
    std::vector<KernelCode> kernels;
    const bool isText = file.image.arch == "source";
    std::string library;
    if (isText) {
      SVOD_TRY(library, libraryOf(plan, threads, to));
    }
    const size_t first = texts.size();
    for (const KernelDesc& kernel : plan.kernels) {
      if (!kernel.grid) continue;
      const auto code = codeIn(threads, kernel.symbol);
      if (!code) return fail(Diag::BadPlan, "no text of '" + kernel.symbol + "'");
      const std::string_view text(reinterpret_cast<const char*>(code->data()), code->size());
      texts.push_back(mockImage(kernel, {arch}, isText ? "grid" : "thread", isText ? library : text));
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
    FileDesc described;
    for (const FileDesc& file : plan.files) {
      SVOD_TRY(const auto bytes, read(file));
      if (file.kind != FileKind::Image) {
        files.push_back({file.path, file.kind, {bytes}});
        continue;
      }
      images.push_back(FileId(files.size()));
      SVOD_TRY(PlanFile image, imageFor(archs.front(), file, bytes, texts));
      files.push_back(std::move(image));
      threads = bytes, described = file;
    }
    // The others follow all files, so that the ids of these stay.
    for (size_t i = 1; i < archs.size(); i++) {
      images.push_back(FileId(files.size()));
      SVOD_TRY(PlanFile image, imageFor(archs[i], described, threads, texts));
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
