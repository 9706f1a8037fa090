// The steps that files and folders share which appear whole or not at all (atomic_write.h).
#pragma once
#include <cerrno>
#include <span>
#include <string>

#include "data/atomic_write.h"

namespace svod::detail {

using Chunks = std::span<const std::span<const std::byte>>;

std::string withoutTrailingSlashes(std::string path);
/// What a symbolic link points to, or the path itself.
std::string resolved(const std::string& path);

/// A new file for writing, or -1 with errno set.
int createFile(const std::string& path);
/// Writes, flushes if the file system can, and closes; every step may report a full disk.
Status fillAndClose(int fd, Chunks chunks, const std::string& path, Flush flush);
/// Makes the renamed entry durable. Not being able to flush a directory is no failure.
void flushFolder(const std::string& folder);

/// How the kernel's renameat2 treats a name that is taken. Not every C library has the function.
enum class Taken : unsigned { IsError = 1, IsExchanged = 2 };
/// 0, or -1 with errno set.
int renamed(const std::string& from, const std::string& to, Taken taken);
/// Of renamed(), on file systems that cannot exchange two names.
inline bool hasNoExchange(int error) { return error == EINVAL || error == ENOSYS; }

}  // namespace svod::detail
