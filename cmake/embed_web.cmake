# cmake -DOUTPUT=FILE.cpp "-DFILES=A;B" -P embed_web.cmake: files of JavaScript, one behind the other, as the text that
# lib/web/parts.h declares. A literal holds less than compilers promise to take, so each file has its own.
set(texts "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  string(APPEND texts "    R\"SVOD_TEXT(${text})SVOD_TEXT\"\n    \"\\n\"\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"web/parts.h\"

namespace svod::web {

std::string_view runtimeText() {
  return
${texts}      ;
}

}  // namespace svod::web
")
