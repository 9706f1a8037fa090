#include "toolchain/temp_dir.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "data/mapped_file.h"

namespace svod {

namespace {

constexpr const char* kName = "/svod";

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

}  // namespace

Result<TempDir> TempDir::make(const std::string& root) {
  TempDir made;
  const auto create = [](const std::string& name) { return ::mkdir(name.c_str(), S_IRWXU) == 0; };
  if (!made.directory_->createBeside(root + kName, create))
    return fail(ioError("cannot make a temporary directory in", root, errno));
  return made;
}

void TempDir::removeAbandoned(const std::string& root) { svod::removeAbandoned(root + kName, 1); }

Status writeWholeFile(const std::string& path, const std::string& bytes) {
  File file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (file == nullptr) return fail(ioError("cannot write", path, errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (std::fclose(file.release()) != 0 || !written) return fail(ioError("cannot write", path, errno));
  return {};
}

}  // namespace svod
