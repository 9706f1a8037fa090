#include "toolchain/linker.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <cerrno>
#include <cstring>

#include "data/mapped_file.h"
#include "toolchain/temp_dir.h"

LLD_HAS_DRIVER(elf)

namespace svod {

namespace {

constexpr const char* kShared[] = {"ld.lld", "-shared", "-nostdlib", "--hash-style=gnu", "--build-id=none",
                                   "-z",     "defs",    "-z",        "noexecstack",      "-z",
                                   "relro",  "-z",      "now",       "--discard-all",    "--gc-sections"};

constexpr const char* kLibrary[] = {"ld.lld",          "-shared", "-nostdlib",   "--hash-style=gnu",
                                    "--build-id=none", "-z",      "noexecstack", "-z",
                                    "relro",           "-z",      "now",         "--gc-sections"};

constexpr const char* kRelocatable[] = {"ld.lld", "-r", "-z", "noexecstack"};

// No library that an object names is read. The result is written, as one that is mapped ends the process where the
// disk is full.
constexpr const char* kAlways[] = {"--threads=1", "--error-limit=0", "--no-dependent-libraries",
                                   "--no-mmap-output-file"};

}  // namespace

Result<std::string> Linker::linkShared(std::span<const std::string> objects) { return link(kShared, objects); }

Result<std::string> Linker::linkLibrary(const std::string& object, const std::string& name) {
  const std::string own = "-soname=" + name;
  std::vector<const char*> flags(std::begin(kLibrary), std::end(kLibrary));
  flags.push_back(own.c_str());
  return link(flags, std::span(&object, 1));
}

Result<std::string> Linker::linkRelocatable(std::span<const std::string> objects) {
  return link(kRelocatable, objects);
}

Result<std::string> Linker::link(std::span<const char* const> flags, std::span<const std::string> objects) {
  const std::lock_guard lock(linking_);
  if (!usable_) return fail(Diag::CompileFailed, "the linker crashed before and cannot run again in this process");
  SVOD_TRY(const TempDir folder, TempDir::make(tempRoot_));
  std::vector<std::string> names;
  for (const std::string& object : objects) {
    names.push_back(folder.file(std::to_string(names.size()) + ".o"));
    SVOD_CHECK(writeWholeFile(names.back(), object));
  }
  const std::string output = folder.file("kernels.so");
  std::vector<const char*> args(flags.begin(), flags.end());
  args.insert(args.end(), std::begin(kAlways), std::end(kAlways));
  for (const std::string& name : names) args.push_back(name.c_str());
  args.insert(args.end(), {"-o", output.c_str()});

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable_ = result.canRunAgain;
  for (const int full : {ENOSPC, EDQUOT, EFBIG})
    if (messages.find(std::strerror(full)) != messages.npos) return fail(ioError("cannot write", output, full));
  if (result.retCode != 0) return fail(Diag::CompileFailed, "linking kernels failed: " + messages);
  return readWholeFile(output);
}

}  // namespace svod
