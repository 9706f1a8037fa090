# Every third-party package, in one place, with the reason we need it. All of them are Debian 12 packages
# (scripts/packages.txt, and packages_tests.txt). Rooms name them in LIBS; LLVM and LLD are looked up only when a room asks.

find_package(Threads REQUIRED)        # parallel kernel compilation and the runtime's worker threads
find_package(tl-expected REQUIRED)    # Result<T>: errors as values before std::expected is available
find_package(fmt REQUIRED)            # readable text output without iostreams
find_package(nlohmann_json REQUIRED)  # graph.json, plan.json, tuning records
find_package(CLI11 REQUIRED)          # command-line parsing in tools/
find_package(ZLIB REQUIRED)           # CRC-32 and deflate; LLVM's own link needs it as well
find_package(Protobuf REQUIRED)       # ONNX models; protoc turns lib/onnx/onnx.proto into C++ at build time
find_package(zstd REQUIRED)           # compressed sections in LLVM's object files
option(SVOD_TESTS "Fail where Catch2 is missing, without which no tests are built" OFF)
if(SVOD_TESTS)
  find_package(Catch2 2 REQUIRED)     # unit tests (version 2: one header)
else()
  find_package(Catch2 2 QUIET)
endif()

# svod_either(NAME "shared ..." "static ..."): links the shared ones, and the static ones into targets that svod_relocatable made
# files that need libc alone.
function(svod_either name shared static)
  add_library(${name} INTERFACE)
  set(is_relocatable "$<BOOL:$<TARGET_PROPERTY:SVOD_RELOCATABLE>>")
  list(TRANSFORM shared REPLACE "(.+)" "$<$<NOT:${is_relocatable}>:\\1>")
  list(TRANSFORM static REPLACE "(.+)" "$<${is_relocatable}:\\1>")
  target_link_libraries(${name} INTERFACE ${shared} ${static})
endfunction()

# LIBS svod::fmt, svod::protobuf: whose headers come with them.
find_library(SVOD_PROTOBUF_ARCHIVE libprotobuf-lite.a)
find_library(SVOD_ZLIB_ARCHIVE libz.a)
svod_either(svod_fmt fmt::fmt "")  # Debian has no archive of it: cmake/relocatable/fmt.cpp
target_include_directories(svod_fmt INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
add_library(svod::fmt ALIAS svod_fmt)
svod_either(svod_protobuf protobuf::libprotobuf-lite ${SVOD_PROTOBUF_ARCHIVE})
target_include_directories(svod_protobuf SYSTEM INTERFACE $<TARGET_PROPERTY:protobuf::libprotobuf-lite,INTERFACE_INCLUDE_DIRECTORIES>)
add_library(svod::protobuf ALIAS svod_protobuf)
svod_either(svod_compression "ZLIB::ZLIB;zstd::libzstd_shared" "${SVOD_ZLIB_ARCHIVE};zstd::libzstd_static")

# LIBS svod::llvm - code generation for the cpu target. LIBS svod::lld - links kernels in process.
# LIBS svod::clang - compiles C in process: kernels of target c, and functions of users.
macro(svod_find_llvm)
  if(NOT TARGET svod::llvm)
    svod_create_llvm()
  endif()
endmacro()

function(svod_create_llvm)
  find_package(LLVM 19.1 REQUIRED CONFIG GLOBAL PATHS /usr/lib/llvm-19 NO_DEFAULT_PATH)
  # Of those that toolchain/code_features.cpp registers.
  llvm_map_components_to_libnames(archives passes lto objcopy option X86 AArch64 ARM RISCV WebAssembly)
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "rt;dl;m;svod_compression;LLVMDemangle")
  set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)  # without Polly
  if(LLVM_LINK_LLVM_DYLIB)
    svod_either(svod_llvm_interface LLVM "${archives}")
  else()
    svod_either(svod_llvm_interface "${archives}" "${archives}")
  endif()
  target_include_directories(svod_llvm_interface SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(FILTER definitions EXCLUDE REGEX __STDC_)  # without effect since C++11, but the precompiled headers lack them
  target_compile_definitions(svod_llvm_interface INTERFACE ${definitions})
  add_library(svod::llvm ALIAS svod_llvm_interface)
endfunction()

macro(svod_find_lld)
  svod_find_llvm()
  if(NOT TARGET svod::lld)
    svod_create_lld()
  endif()
endmacro()

function(svod_create_lld)
  find_package(LLD REQUIRED CONFIG GLOBAL PATHS /usr/lib/llvm-19/lib/cmake/lld NO_DEFAULT_PATH)
  # The packaged targets name the shared libLLVM, and two copies of LLVM in one program clash.
  set_target_properties(lldELF PROPERTIES INTERFACE_LINK_LIBRARIES "lldCommon;svod_compression;svod_llvm_interface")
  set_target_properties(lldCommon PROPERTIES INTERFACE_LINK_LIBRARIES svod_llvm_interface)
  add_library(svod_lld_interface INTERFACE)
  target_include_directories(svod_lld_interface SYSTEM INTERFACE ${LLD_INCLUDE_DIRS})
  target_link_libraries(svod_lld_interface INTERFACE lldELF lldCommon svod::llvm)
  add_library(svod::lld ALIAS svod_lld_interface)
endfunction()

macro(svod_find_clang)
  svod_find_llvm()
  if(NOT TARGET svod::clang)
    svod_create_clang()
  endif()
endmacro()

# The packaged targets of Clang want every tool of LLVM installed, so the libraries are named by their paths.
function(svod_create_clang)
  # Debian's libclang-cpp19 has the second name alone.
  find_library(SVOD_CLANG_CPP NAMES clang-cpp libclang-cpp.so.19.1 PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH REQUIRED)
  find_path(SVOD_CLANG_RESOURCES stddef.h PATHS /usr/lib/llvm-19/lib/clang/19/include NO_DEFAULT_PATH REQUIRED)
  set(archives CodeGen Frontend Driver Serialization Parse Sema APINotes Analysis Edit ASTMatchers AST Support Lex Basic)
  list(TRANSFORM archives PREPEND /usr/lib/llvm-19/lib/libclang)
  list(TRANSFORM archives APPEND .a)
  set(components Coverage FrontendDriver FrontendHLSL FrontendOpenMP Instrumentation LTO Option Passes WindowsDriver)
  list(TRANSFORM components PREPEND LLVM)
  svod_either(svod_clang_interface ${SVOD_CLANG_CPP} "${archives};${components}")
  target_link_libraries(svod_clang_interface INTERFACE svod::llvm)
  add_library(svod::clang ALIAS svod_clang_interface)
endfunction()
