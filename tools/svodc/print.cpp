#include "print.h"

#include "data/atomic_write.h"

namespace svod {

Status writeResult(const std::string& path, std::string_view text, const Request& request, Console& console) {
  if (path == "-") return console.print(text);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text.data(), text.size()));
  if (holdsChunks(path, std::span(&bytes, 1))) return {};
  return request.interrupts->place([&] { return writeFileAtomic(path, text); });
}

TextStyle styleOf(const Console& console) { return {console.colorOutput(), console.outputWidth()}; }

Status printDocument(const Document& document, const Request& request, Console& console) {
  return console.print(request.flags.json ? toJson(document) : toText(document, styleOf(console)));
}

}  // namespace svod
