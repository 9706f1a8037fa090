// The files that a stranger's C includes, as Clang sees them.
#pragma once
#include <llvm/Support/VirtualFileSystem.h>

#include <set>
#include <span>
#include <string>

namespace svod {

/// Regular files in `folders` and below (data/inside_folder.h), of at most 16 MiB, opened without waiting for anything.
/// What else is there is not there for Clang, and in `refused`, which must live as long.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> folderFiles(std::span<const std::string> folders,
                                                            std::set<std::string>& refused);

}  // namespace svod
