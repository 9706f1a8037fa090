# Build options and the flags that hold for every target.

option(SVOD_WERROR "Warnings are errors (dev and test presets)" OFF)
option(SVOD_VERIFY_EACH "Verify the graph after every pass by default" OFF)
option(SVOD_UNITY "Compile sources of a room in groups: half the time for all, more for one that changes" OFF)
option(SVOD_RELOCATABLE "svodc, svod-opt and svod-run are files that need libc alone: packages are made of these" OFF)
option(SVOD_RUNTIME_ONLY "Build nothing but the runtime library: no LLVM, no third-party package, no tools but svod-run" OFF)
option(SVOD_FUZZ "Build the libFuzzer targets (needs clang++)" OFF)
set(SVOD_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, comma separated")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Objects of libraries and programs alike, so that all can share the precompiled headers.
add_compile_options(-fPIC)

add_compile_options(-Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside libstdc++: std::string concatenation, the unused members of a std::variant.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict> -Wno-maybe-uninitialized)
  # These follow values through inlined library code and report what cannot happen.
  foreach(warning array-bounds stringop-overflow stringop-overread free-nonheap-object)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-error=${warning}>)
  endforeach()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # It reports that std::stable_sort of libstdc++ 12 calls a deprecated function; g++ reports those of our own.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
if(SVOD_WERROR)
  add_compile_options(-Werror)
endif()

# Sections let the linker drop what nobody calls, which keeps svod-run small.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

# Source paths inside binaries are relative to the repository, whatever folder it was built in. The compiler
# sees absolute paths, or paths relative to the build folder when ccache rewrites them, so both are mapped.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE source_from_build)
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${source_from_build}/=)

if(SVOD_SANITIZE)
  add_compile_options(-fsanitize=${SVOD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SVOD_SANITIZE})
endif()
if(SVOD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Links take most memory, so they run one at a time.
set_property(GLOBAL PROPERTY JOB_POOLS link=1)
set(CMAKE_JOB_POOL_LINK link)

find_program(SVOD_CCACHE ccache)
if(SVOD_CCACHE)
  # Paths relative to the checkout make cached objects valid in every clone.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${SVOD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(SVOD_MOLD mold)
if(SVOD_MOLD AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()
