# cmake -DOUTPUT=FILE.cpp "-DFILES=A;B" -P embed.cmake: the text of files as a table of names and texts, for
# lib/toolchain/embedded_headers.h.
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"SVOD_TEXT(${text})SVOD_TEXT\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"toolchain/embedded_headers.h\"

namespace svod {

std::span<const EmbeddedHeader> embeddedHeaders() {
  static constexpr EmbeddedHeader kHeaders[] = {
${rows}  };
  return kHeaders;
}

}  // namespace svod
")
