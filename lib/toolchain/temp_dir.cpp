#include "toolchain/temp_dir.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "data/mapped_file.h"

namespace svod {

namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

}  // namespace

Result<TempDir> TempDir::make(const std::string& root) {
  std::string path = root + "/svod-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return fail(ioError("cannot make a temporary directory in", root, errno));
  return TempDir(std::move(path));
}

TempDir::~TempDir() {
  std::error_code ignored;  // a leftover temporary file must not turn success into failure
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status writeWholeFile(const std::string& path, const std::string& bytes) {
  File file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (file == nullptr) return fail(ioError("cannot write", path, errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !written) return fail(ioError("cannot write", path, errno));
  return {};
}

}  // namespace svod
