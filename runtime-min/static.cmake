# libsvod-runtime.a links alone, into programs in C too: one object with the runtime and what it needs of the C++ library,
# in which nothing but the functions of svod/runtime.h has a name. Sanitizers need programs linked by their compiler.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a OUTPUT_VARIABLE cxx_library
  OUTPUT_STRIP_TRAILING_WHITESPACE)
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(__GLIBCXX__ cstddef SVOD_HAS_LIBSTDCXX)  # which another one does not link with
if(SVOD_SANITIZE OR NOT EXISTS "${cxx_library}" OR NOT SVOD_HAS_LIBSTDCXX)
  return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/svod/runtime.h)
file(STRINGS include/svod/runtime.h declarations REGEX "^SVOD_API ")
set(roots "")
foreach(line IN LISTS declarations)
  string(REGEX MATCH "(svod_[a-z_]+)\\(" unused "${line}")
  list(APPEND roots -Wl,-u,${CMAKE_MATCH_1})
endforeach()

set(relocatable "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(relocatable -flinker-output=nolto-rel -flto-partition=none)  # GCC 12 fails to partition what it links this way
endif()
set(whole ${CMAKE_CURRENT_BINARY_DIR}/svod-runtime-whole.o)
set(object ${CMAKE_CURRENT_BINARY_DIR}/svod-runtime.o)
add_custom_command(OUTPUT ${object} BYPRODUCTS ${whole}
  COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -fuse-ld=bfd -Wl,--gc-sections -Wl,--force-group-allocation ${roots} -O2 ${shipped_flags}
    -Wno-alloc-size-larger-than ${relocatable} -o ${whole} $<TARGET_OBJECTS:svod_runtime_shipped> ${cxx_library}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --weaken-symbol=_Z* ${whole}  # unique ones are not seen by the next
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=svod_* ${whole} ${object}
  DEPENDS svod_runtime_shipped $<TARGET_OBJECTS:svod_runtime_shipped>
  COMMAND_EXPAND_LISTS VERBATIM)
add_library(svod_runtime_static STATIC ${object})
target_link_libraries(svod_runtime_static INTERFACE pthread dl)
target_include_directories(svod_runtime_static INTERFACE ${headers})
set_target_properties(svod_runtime_static PROPERTIES OUTPUT_NAME svod-runtime LINKER_LANGUAGE C
  EXPORT_NAME runtime_static)
add_dependencies(programs svod_runtime_static)
install(TARGETS svod_runtime_static EXPORT svodTargets COMPONENT dev)
