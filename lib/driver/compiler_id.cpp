#include "driver/compiler_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

#include "support/hex.h"
#include "support/version.h"

namespace svod {

namespace {

/// The build id among the notes of one segment, as digits.
std::string buildIdIn(const char* notes, size_t size) {
  ElfW(Nhdr) head;
  auto padded = [](size_t n) { return (n + 3) / 4 * 4; };
  for (size_t at = 0; at + sizeof head <= size;) {
    std::memcpy(&head, notes + at, sizeof head);
    const size_t name = at + sizeof head, body = name + padded(head.n_namesz), end = body + padded(head.n_descsz);
    if (end > size) return {};
    if (head.n_type == NT_GNU_BUILD_ID && std::string_view(notes + name, head.n_namesz) == std::string_view("GNU", 4)) {
      std::string text;
      for (size_t i = body; i < body + head.n_descsz; ++i) appendHex(text, static_cast<uint8_t>(notes[i]));
      return text;
    }
    at = end;
  }
  return {};
}

int addObject(dl_phdr_info* object, size_t, void* data) {
  auto& id = *static_cast<std::string*>(data);
  const std::string_view name = object->dlpi_name == nullptr ? "" : object->dlpi_name;
  if (name.starts_with("linux-vdso")) return 0;  // the system's, and no part of the compiler
  std::string buildId;
  for (size_t i = 0; i < object->dlpi_phnum && buildId.empty(); ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE)
      buildId = buildIdIn(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  }
  if (id.empty() && buildId.empty()) return 1;  // the program comes first
  id += buildId + "\n";
  return 0;
}

}  // namespace

std::string compilerId() {
  std::string id;
  dl_iterate_phdr(addObject, &id);
  return id.empty() ? id : "svod " + std::string(kVersion) + "\n" + id;
}

}  // namespace svod
