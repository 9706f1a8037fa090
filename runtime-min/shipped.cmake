# libsvod-runtime.so, made of the runtime and the rooms below it, compiled once more: without exceptions and names of types,
# which errors as values do not need, and without tables to unwind the stack with. So nothing of the C++ library is inside but a
# little that alone.cpp answers for, programs in C need nothing but libc, and the library is half as large.

set(shipped "")
foreach(room support data plan runtime-min)
  get_target_property(sources svod_${room} SOURCES)
  get_target_property(folder svod_${room} SOURCE_DIR)
  list(TRANSFORM sources PREPEND ${folder}/)
  list(APPEND shipped ${sources})
endforeach()
# Not what only a compiler does, such as writing plans: what it calls of the C++ library throws.
list(FILTER shipped EXCLUDE REGEX "/lib/support/(decision|packed|source_text|suggest)|/lib/plan/(lifetimes|memory_|run_places|write_(directory|pack))")
list(FILTER shipped EXCLUDE REGEX "/lib/data/(atomic_|distinct|element_value|file_cache|inside_folder|npy|read_json|safetensors|temporary)")

set(shipped_flags -fno-exceptions -fno-rtti -fno-unwind-tables -fno-asynchronous-unwind-tables)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^armv7|^arm$")  # GCC 12 fails there
  list(APPEND shipped_flags -flto=1 -fno-fat-lto-objects)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")  # a table of jumps would be larger than the few calls that go by it
  list(APPEND shipped_flags -fno-plt)
endif()
if(SVOD_SANITIZE)  # they need the C++ library of the program
  set(shipped_alone "")
  set(shipped_flags "")
endif()
add_library(svod_runtime_shipped OBJECT ${shipped} ${shipped_alone})
target_compile_options(svod_runtime_shipped PRIVATE $<$<CONFIG:Release>:-Oz> ${shipped_flags})
target_compile_definitions(svod_runtime_shipped PRIVATE SVOD_SHIPPED_RUNTIME)
target_link_libraries(svod_runtime_shipped PRIVATE tl::expected Threads::Threads)
target_include_directories(svod_runtime_shipped PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/lib include)
set_target_properties(svod_runtime_shipped PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
svod_group(svod_runtime_shipped "${PROJECT_SOURCE_DIR}/lib/plan/json_tape.cpp;alone.cpp;bindings_variables.cpp")
# What a run goes through is made for speed, everything else for size.
set_source_files_properties(${PROJECT_SOURCE_DIR}/lib/data/sha256.cpp
  ${PROJECT_SOURCE_DIR}/lib/data/sha256_x86.cpp PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")

# libsvod-runtime.so.0: the number rises with an incompatible change of svod/runtime.h (docs/compatibility.md).
add_library(svod_runtime_shared SHARED $<TARGET_OBJECTS:svod_runtime_shipped>)
target_link_libraries(svod_runtime_shared PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(svod_runtime_shared PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,-z,noseparate-code SVOD_HAS_NOSEPARATE_CODE)
if(NOT SVOD_SANITIZE)
  target_link_options(svod_runtime_shared PRIVATE ${shipped_flags} -fuse-ld=bfd
    $<$<BOOL:${SVOD_HAS_NOSEPARATE_CODE}>:-Wl,-z,noseparate-code> -O2 -Wno-alloc-size-larger-than
    -static-libstdc++ -static-libgcc)
endif()
target_include_directories(svod_runtime_shared INTERFACE ${headers})
set_target_properties(svod_runtime_shared PROPERTIES OUTPUT_NAME svod-runtime VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/exports.map EXPORT_NAME runtime)
add_dependencies(programs svod_runtime_shared)
install(TARGETS svod_runtime_shared EXPORT svodTargets LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
install(DIRECTORY include/ DESTINATION include COMPONENT dev)
