// The half of plan/pack.h that writes, which the runtime does without.
#include "data/atomic_write.h"
#include "plan/contents.h"
#include "plan/pack.h"
#include "plan/pack_head.h"

namespace svod {

using namespace detail;

namespace {
constexpr std::byte kZeros[kPackAlignment] = {};
}

Status writePack(const std::string& path, Plan plan, std::span<const PlanFile> files) {
  SVOD_TRY(const PlanContents contents, contentsOf(std::move(plan), files));
  PackHead head{{}, kPackByteOrder, kPackVersion, contents.json.size(), sizeof(PackHead) + contents.json.size()};
  std::memcpy(head.magic, kPackMagic, sizeof head.magic);
  std::vector<std::span<const std::byte>> chunks = {std::as_bytes(std::span(&head, 1)),
                                                    std::as_bytes(std::span(contents.json))};
  for (const PlanFile& file : contents.files) {
    const uint64_t begin = alignedInPack(head.packBytes);
    chunks.push_back(std::span(kZeros, begin - head.packBytes));
    head.packBytes = begin;
    for (std::span<const std::byte> chunk : file.chunks) {
      chunks.push_back(chunk);
      head.packBytes += chunk.size();
    }
  }
  return holdsChunks(path, chunks) ? Status() : writeChunksAtomic(path, chunks);
}

}  // namespace svod
