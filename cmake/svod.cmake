# The functions rooms, tools and tests are declared with.

# svod_library(NAME SOURCES a.cpp ... [ALONE b.cpp ...] [DEPS room ...] [LIBS target ...])
# A room: static library svod_NAME. DEPS are rooms below it, LIBS third-party targets of dependencies.cmake. ALONE are
# sources that SVOD_UNITY does not put into a group.
function(svod_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;ALONE;DEPS;LIBS")
  add_library(svod_${name} STATIC ${arg_SOURCES})
  svod_include_root(svod_${name})
  svod_precompile(svod_${name} rooms)
  svod_group(svod_${name} "${arg_ALONE}")
  target_link_libraries(svod_${name} PUBLIC tl::expected)
  svod_link(svod_${name} PUBLIC "${arg_DEPS}" "${arg_LIBS}")
  svod_verify_definition(svod_${name} ${name})
endfunction()

# svod_tool(NAME SOURCES a.cpp ... [ALONE b.cpp ...] [DEPS room ...] [LIBS target ...] [COMPONENT part] [INTERNAL])
# A program in build/<preset>/bin; `cmake --install build/release --strip` installs it stripped. COMPONENT is the package
# it goes into (cmake/debian.cmake), compiler when it is left out. find_package(svod) knows it unless it is INTERNAL.
function(svod_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "COMPONENT" "SOURCES;ALONE;DEPS;LIBS")
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT compiler)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR})
  svod_precompile(${name} rooms)
  svod_group(${name} "${arg_ALONE}")
  svod_link(${name} PRIVATE "${arg_DEPS}" "${arg_LIBS}")
  svod_verify_definition(${name} ${name})
  if(SVOD_RELOCATABLE)
    svod_relocatable(${name})
  endif()
  add_dependencies(programs ${name})
  set(export EXPORT svodTargets)
  if(arg_INTERNAL)
    set(export "")
  endif()
  install(TARGETS ${name} ${export} COMPONENT ${arg_COMPONENT})
endfunction()

# svod_test_part(NAME SOURCES a.cpp ... [DEPS room ...] [PARTS part ...])
# Sources that several tests share, compiled once: those say PARTS NAME, whatever folder declares it. Its files see
# SVOD_TEST_DIR and SVOD_BIN_DIR as tests of its folder do.
function(svod_test_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;PARTS")
  add_library(svod_test_part_${name} STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
  add_library(svod_test_part::${name} ALIAS svod_test_part_${name})
  svod_test_options(svod_test_part_${name})
  target_link_libraries(svod_test_part_${name} PUBLIC Catch2::Catch2 tl::expected)
  svod_link_parts(svod_test_part_${name} PUBLIC "${arg_PARTS}")
  svod_link(svod_test_part_${name} PUBLIC "${arg_DEPS}" "")
endfunction()

# svod_test(NAME SOURCES a.cpp ... [DEPS room ...] [PARTS part ...] [LIBS target ...] [TOOLS tool ...] [LABELS label ...] [SHARDS n])
# A Catch2 program, one CTest entry FOLDER/NAME that runs in the repository root. Labels: the folder, `fast`
# unless LABELS holds slow or device, and `core` (also run under sanitizers) when nothing it uses needs LLVM and LABELS
# does not hold check.
# The program sees SVOD_TEST_DIR (its folder) and SVOD_BIN_DIR (the tools), both relative to the root. SHARDS makes n
# entries FOLDER/NAME-i, which run at once; the program does the part that SVOD_SHARD of SVOD_SHARDS names.
function(svod_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SHARDS" "SOURCES;DEPS;PARTS;LIBS;TOOLS;LABELS")
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target test_${folder}_${name})
  add_executable(${target} ${arg_SOURCES} $<TARGET_OBJECTS:svod_test_main>)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests OUTPUT_NAME ${folder}_${name})
  svod_test_options(${target})
  target_link_libraries(${target} PRIVATE Catch2::Catch2 tl::expected)
  svod_link_parts(${target} PRIVATE "${arg_PARTS}")
  svod_link(${target} PRIVATE "${arg_DEPS}" "${arg_LIBS}")
  if(NOT arg_SHARDS)
    svod_register_test(${target} ${name} "${arg_TOOLS}" "${arg_LABELS}" $<TARGET_FILE:${target}>)
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    svod_register_test(${target} ${name}-${shard} "${arg_TOOLS}" "${arg_LABELS}" $<TARGET_FILE:${target}>)
    math(EXPR number "${shard} - 1")
    set_property(TEST ${folder}/${name}-${shard} APPEND PROPERTY
      ENVIRONMENT SVOD_SHARD=${number} SVOD_SHARDS=${arg_SHARDS})
  endforeach()
endfunction()

# svod_script_test(NAME COMMAND program arg ... [TOOLS tool ...] [LABELS label ...])
# A script as a CTest entry; it runs in the repository root and finds the tools in $SVOD_BIN_DIR. `core` only
# when TOOLS names a tool that needs no LLVM.
function(svod_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;TOOLS;LABELS")
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_custom_target(test_${folder}_${name})
  if(NOT arg_TOOLS)
    set_target_properties(test_${folder}_${name} PROPERTIES SVOD_NOT_CORE TRUE)
  endif()
  svod_register_test(test_${folder}_${name} ${name} "${arg_TOOLS}" "${arg_LABELS}" ${arg_COMMAND})
endfunction()

# svod_fuzz(NAME SOURCES a.cpp ... [DEPS room ...]): a libFuzzer program fuzz_NAME, in the fuzz preset only. Target
# `fuzzers` builds all of them.
function(svod_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;LIBS")
  if(SVOD_FUZZ)
    add_executable(fuzz_${name} ${arg_SOURCES})
    target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
    svod_link(fuzz_${name} PRIVATE "${arg_DEPS}" "${arg_LIBS}")
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${name})
  endif()
endfunction()

# --- used by the functions above ---

# Rooms under lib/ are included as "room/file.h", those beside lib/ (runtime-min, components for devices) from the repository root.
function(svod_include_root target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/lib)
  cmake_path(SET lib_dir ${PROJECT_SOURCE_DIR}/lib)
  cmake_path(IS_PREFIX lib_dir ${CMAKE_CURRENT_SOURCE_DIR} under_lib)
  if(NOT under_lib)
    target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# With SVOD_UNITY, eight sources of a room are one translation unit: what they all include is read and instantiated once. Two
# files of a group cannot both have a name of their own (in a namespace without a name); those in `alone` do.
function(svod_group target alone)
  if(SVOD_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Library headers that most files include are parsed once: reading them is more than half of compiling a file. Files
# still include what they use; targets with other flags than the rest set DISABLE_PRECOMPILE_HEADERS.
function(svod_precompile target headers)
  if(TARGET svod_headers_${headers})
    target_precompile_headers(${target} REUSE_FROM svod_headers_${headers})
  endif()
endfunction()

function(svod_add_precompiled_headers)
  set(headers <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <numeric> <optional>
    <set> <span> <string> <string_view> <unordered_map> <utility> <vector> <tl/expected.hpp>)
  set(empty ${PROJECT_BINARY_DIR}/empty.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  set(kinds rooms)
  if(Catch2_FOUND)
    list(APPEND kinds tests)
  endif()
  foreach(kind IN LISTS kinds)
    add_library(svod_headers_${kind} OBJECT ${empty})
    target_link_libraries(svod_headers_${kind} PRIVATE tl::expected)
  endforeach()
  target_precompile_headers(svod_headers_rooms PRIVATE ${headers})
  if(NOT Catch2_FOUND)
    return()
  endif()
  target_precompile_headers(svod_headers_tests PRIVATE ${headers} <catch2/catch.hpp>)
  target_compile_options(svod_headers_tests PRIVATE $<$<CONFIG:Release>:-O1>)
  target_link_libraries(svod_headers_tests PRIVATE Catch2::Catch2)
endfunction()

# Links rooms and third-party targets, and remembers whether LLVM is among them.
function(svod_link target scope deps libs)
  set(needs_llvm FALSE)
  foreach(dep IN LISTS deps)
    if(NOT TARGET svod_${dep})
      message(WARNING "${target} depends on room ${dep}, which lib/layers.txt does not list below it or which "
                      "has no CMakeLists.txt; linking programs that use it will fail")
      continue()
    endif()
    target_link_libraries(${target} ${scope} svod_${dep})
    get_target_property(dep_needs_llvm svod_${dep} SVOD_NEEDS_LLVM)
    if(dep_needs_llvm)
      set(needs_llvm TRUE)
    endif()
  endforeach()
  if("svod::llvm" IN_LIST libs)
    svod_find_llvm()
    set(needs_llvm TRUE)
  endif()
  if("svod::lld" IN_LIST libs)
    svod_find_lld()
    set(needs_llvm TRUE)
  endif()
  target_link_libraries(${target} ${scope} ${libs})
  set_target_properties(${target} PROPERTIES SVOD_NEEDS_LLVM ${needs_llvm})
endfunction()

# Only these rooms look at SVOD_VERIFY_EACH.
function(svod_verify_definition target name)
  if(SVOD_VERIFY_EACH AND name MATCHES "^(pass|driver|svodc)$")
    target_compile_definitions(${target} PRIVATE SVOD_VERIFY_EACH=1)
  endif()
endfunction()

# How sources of tests are compiled.
function(svod_test_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  svod_precompile(${target} tests)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)  # most of their time is compiling them
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE test_dir)
  cmake_path(RELATIVE_PATH CMAKE_RUNTIME_OUTPUT_DIRECTORY BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE bin_dir)
  target_compile_definitions(${target} PRIVATE SVOD_TEST_DIR="${test_dir}" SVOD_BIN_DIR="${bin_dir}")
endfunction()

# By their names with colons: those of folders that come later are found, and a name that is none is an error.
function(svod_link_parts target scope parts)
  list(TRANSFORM parts PREPEND svod_test_part::)
  target_link_libraries(${target} ${scope} ${parts})
endfunction()

function(svod_register_test target name tools labels)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  get_target_property(needs_llvm ${target} SVOD_NEEDS_LLVM)
  foreach(tool IN LISTS tools)
    if(TARGET ${tool})
      add_dependencies(${target} ${tool})
      get_target_property(tool_needs_llvm ${tool} SVOD_NEEDS_LLVM)
      if(tool_needs_llvm)
        set(needs_llvm TRUE)
      endif()
    else()
      message(WARNING "test ${name} needs the tool ${tool}, which is not declared")
    endif()
  endforeach()
  list(APPEND labels ${folder})
  if(NOT "slow" IN_LIST labels AND NOT "device" IN_LIST labels)
    list(APPEND labels fast)
  endif()
  get_target_property(not_core ${target} SVOD_NOT_CORE)
  if(NOT needs_llvm AND NOT not_core AND NOT "device" IN_LIST labels AND NOT "check" IN_LIST labels)
    list(APPEND labels core)
    add_dependencies(core_tests ${target})
  endif()
  list(REMOVE_DUPLICATES labels)
  add_test(NAME ${folder}/${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if("slow" IN_LIST labels)
    set_tests_properties(${folder}/${name} PROPERTIES COST 100)  # ctest starts these first, so that no core is idle at the end
  endif()
  set(environment SVOD_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} SVOD_NO_CACHE=1)
  # A process that ends by _exit would have reported a race in vain; what a dying process says of its crash may be unsafe.
  # Kernels are not instrumented, and two tiles of one may write the same bytes to the same place.
  if(SVOD_SANITIZE MATCHES thread)
    list(APPEND environment TSAN_OPTIONS=halt_on_error=1:report_signal_unsafe=0:ignore_noninstrumented_modules=1)
  endif()
  # Half of a test is allocations, and most of these the stack that is kept of each.
  if(SVOD_SANITIZE MATCHES address)
    list(APPEND environment ASAN_OPTIONS=malloc_context_size=5)
  endif()
  if(SVOD_SANITIZE)  # CC and CFLAGS: for programs that a test links to the runtime
    set(flags "-fsanitize=${SVOD_SANITIZE} -fsanitize-link-c++-runtime -lstdc++")  # of clang, which the presets name
    list(APPEND environment SVOD_SANITIZE=${SVOD_SANITIZE} "CC=${CMAKE_C_COMPILER}" "CFLAGS=${flags}")
  endif()
  set_tests_properties(${folder}/${name} PROPERTIES LABELS "${labels}" ENVIRONMENT "${environment}")
endfunction()

# The rooms of lib/layers.txt, bottom up: lib/ROOM, or ROOM itself when it is named with a folder or stands
# beside lib/. The glob only makes CMake notice a CMakeLists.txt that appears later.
function(svod_add_rooms)
  set(layers ${PROJECT_SOURCE_DIR}/lib/layers.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${layers})
  file(GLOB present CONFIGURE_DEPENDS lib/*/CMakeLists.txt runtime-*/CMakeLists.txt tools/*/CMakeLists.txt)
  file(STRINGS ${layers} lines REGEX "^[a-z]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE ":.*" "" room "${line}")
    foreach(folder lib/${room} ${room})
      if("${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt" IN_LIST present)
        add_subdirectory(${folder})
      endif()
    endforeach()
  endforeach()
endfunction()

# Every tests/FOLDER with a CMakeLists.txt. `core_tests` builds all tests that need no LLVM.
function(svod_add_tests)
  if(NOT Catch2_FOUND)
    message(STATUS "Without Catch2 2 no tests are built (Debian: apt-get install catch2)")
    return()
  endif()
  add_custom_target(core_tests)
  add_library(svod_test_main OBJECT tests/main.cpp)
  target_link_libraries(svod_test_main PRIVATE Catch2::Catch2)
  file(GLOB present CONFIGURE_DEPENDS tests/*/CMakeLists.txt)
  foreach(file IN LISTS present)
    get_filename_component(folder ${file} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endfunction()
