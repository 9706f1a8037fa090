#include "toolchain/temp_dir.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace svod {

namespace {

tl::unexpected<Error> ioError(const char* action, const std::string& path,
                              const char* help = "check that the directory exists, is writable and has space") {
  return fail(Diag::Io, std::string("cannot ") + action + " '" + path + "': " + std::strerror(errno), help);
}

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

}  // namespace

Result<TempDir> TempDir::make(const std::string& root) {
  std::string path = root + "/svod-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return ioError("make a temporary directory in", root);
  return TempDir(std::move(path));
}

TempDir::~TempDir() {
  std::error_code ignored;  // a leftover temporary file must not turn success into failure
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status writeWholeFile(const std::string& path, const std::string& bytes) {
  File file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (file == nullptr) return ioError("write", path);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !written) return ioError("write", path);
  return {};
}

Result<std::string> readWholeFile(const std::string& path) {
  constexpr const char* kReadHelp = "check that the file exists and may be read";
  const File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return ioError("read", path, kReadHelp);
  std::string bytes;
  char block[1 << 16];
  while (const size_t count = std::fread(block, 1, sizeof block, file.get())) bytes.append(block, count);
  if (std::ferror(file.get()) != 0) return ioError("read", path, kReadHelp);
  return bytes;
}

}  // namespace svod
