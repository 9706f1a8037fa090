#include "toolchain/folder_files.h"

#include <llvm/Support/MemoryBuffer.h>

#include "data/inside_folder.h"
#include "data/mapped_file.h"

namespace svod {

namespace {

using llvm::vfs::FileSystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 24;

/// A file that was read.
class ReadFile final : public llvm::vfs::File {
 public:
  ReadFile(llvm::vfs::Status status, std::string text) : status_(std::move(status)), text_(std::move(text)) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, int64_t, bool, bool) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text_, name);
  }
  std::error_code close() override { return {}; }

 private:
  llvm::vfs::Status status_;
  std::string text_;
};

class FolderFiles final : public llvm::vfs::ProxyFileSystem {
 public:
  FolderFiles(std::span<const std::string> folders, std::set<std::string>& refused)
      : ProxyFileSystem(llvm::vfs::getRealFileSystem()), folders_(folders.begin(), folders.end()), refused_(refused) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    llvm::ErrorOr<llvm::vfs::Status> found = ProxyFileSystem::status(path);
    if (!found || found->isDirectory()) return found;
    if (found->isRegularFile() && pathInside(folders_, path.str())) return found;
    return refuse(path);
  }
  bool exists(const llvm::Twine& path) override { return static_cast<bool>(status(path)); }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    llvm::ErrorOr<llvm::vfs::Status> found = status(path);
    if (!found) return found.getError();
    const std::optional<std::string> inside = pathInside(folders_, path.str());
    Result<std::string> text = inside ? readWholeFile(*inside, kMostBytes) : Result<std::string>(fail(Diag::Io, ""));
    if (!text) return refuse(path);
    return std::make_unique<ReadFile>(llvm::vfs::Status::copyWithNewSize(*found, text->size()), std::move(*text));
  }
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine&, std::error_code& error) override {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
    return {};
  }

 private:
  std::error_code refuse(const llvm::Twine& path) {
    refused_.insert(path.str());
    return std::make_error_code(std::errc::no_such_file_or_directory);
  }

  std::vector<std::string> folders_;
  std::set<std::string>& refused_;
};

}  // namespace

llvm::IntrusiveRefCntPtr<FileSystem> folderFiles(std::span<const std::string> folders, std::set<std::string>& refused) {
  return llvm::makeIntrusiveRefCnt<FolderFiles>(folders, refused);
}

}  // namespace svod
