#include "interp/copies.h"

#include <cstring>

#include "ir/text.h"

namespace svod {

Result<std::byte*> pieceAt(UOp node, const Address& address, int64_t bytes) {
  const int64_t first = address.at[0].asInt() * byteSize(address.index.dtype());
  std::vector<std::byte>& data = address.storage->data;
  if (first >= 0 && first + bytes <= static_cast<int64_t>(data.size()) && first % bytes == 0)
    return data.data() + first;
  return fail(Error(Diag::Mismatch,
                    "copies " + std::to_string(bytes) + " bytes at byte " + std::to_string(first) + " of " +
                        std::to_string(data.size()),
                    "the pass that made the address or its gate is wrong")
                  .withNote("node: " + toLineText(node)));
}

Status Copies::start(UOp node, const Address& to, const Address* from, int64_t bytes) {
  Copy copy{nullptr, nullptr, static_cast<size_t>(bytes)};
  SVOD_TRY(copy.to, pieceAt(node, to, bytes));
  if (from) {
    SVOD_TRY(copy.from, pieceAt(node, *from, bytes));
  }
  open_.push_back(copy);
  return {};
}

void Copies::wait(size_t left) {
  while (groups_.size() > left) {
    for (const Copy& copy : groups_.front())
      copy.from ? std::memcpy(copy.to, copy.from, copy.bytes) : std::memset(copy.to, 0, copy.bytes);
    groups_.erase(groups_.begin());
  }
}

}  // namespace svod
