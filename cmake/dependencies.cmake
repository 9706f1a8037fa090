# Every third-party package, in one place, with the reason we need it. All of them are Debian 12 packages
# (scripts/packages.txt). Rooms name them in LIBS; LLVM and LLD are looked up only when a room asks.

find_package(Threads REQUIRED)        # parallel kernel compilation and the runtime's worker threads
find_package(tl-expected REQUIRED)    # Result<T>: errors as values before std::expected is available
find_package(fmt REQUIRED)            # readable text output without iostreams
find_package(nlohmann_json REQUIRED)  # graph.json, plan.json, tuning records
find_package(CLI11 REQUIRED)          # command-line parsing in tools/
find_package(ZLIB REQUIRED)           # CRC-32 and deflate; LLVM's own link needs it as well
find_package(Protobuf REQUIRED)       # ONNX models; protoc turns lib/onnx/onnx.proto into C++ at build time
find_package(Catch2 2 REQUIRED)       # unit tests (version 2: one header)

# zstd: compressed sections in LLVM's object files.
find_package(zstd REQUIRED)

# LIBS svod::llvm - code generation for the cpu target. LIBS svod::lld - links kernels in process.
# LIBS svod::clang - compiles C in process: kernels of target c, and functions of users.
macro(svod_find_llvm)
  if(NOT TARGET svod::llvm)
    svod_create_llvm()
  endif()
endmacro()

function(svod_create_llvm)
  find_package(LLVM 19.1 REQUIRED CONFIG GLOBAL PATHS /usr/lib/llvm-19 NO_DEFAULT_PATH)
  add_library(svod_llvm_interface INTERFACE)
  target_include_directories(svod_llvm_interface SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(FILTER definitions EXCLUDE REGEX __STDC_)  # without effect since C++11, but the precompiled headers lack them
  target_compile_definitions(svod_llvm_interface INTERFACE ${definitions})
  if(LLVM_LINK_LLVM_DYLIB AND NOT SVOD_STATIC_LLVM)
    set(libraries LLVM)
  else()
    llvm_map_components_to_libnames(libraries passes lto option ${LLVM_TARGETS_TO_BUILD})
  endif()
  target_link_libraries(svod_llvm_interface INTERFACE ${libraries})
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
  add_library(svod_lld_interface INTERFACE)
  target_include_directories(svod_lld_interface SYSTEM INTERFACE ${LLD_INCLUDE_DIRS})
  if(SVOD_STATIC_LLVM)
    # The packaged targets name the shared libLLVM, and two copies of LLVM in one program clash.
    set_target_properties(lldELF PROPERTIES INTERFACE_LINK_LIBRARIES "lldCommon;ZLIB::ZLIB;zstd::libzstd_shared")
    set_target_properties(lldCommon PROPERTIES INTERFACE_LINK_LIBRARIES "")
  endif()
  target_link_libraries(svod_lld_interface INTERFACE lldELF lldCommon svod::llvm)
  add_library(svod::lld ALIAS svod_lld_interface)
endfunction()

macro(svod_find_clang)
  svod_find_llvm()
  if(NOT TARGET svod::clang)
    svod_create_clang()
  endif()
endmacro()

# The packaged targets of Clang want every tool of LLVM installed, so the library is named by its path.
function(svod_create_clang)
  find_library(SVOD_CLANG_CPP clang-cpp PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH REQUIRED)
  find_path(SVOD_CLANG_RESOURCES stddef.h PATHS /usr/lib/llvm-19/lib/clang/19/include NO_DEFAULT_PATH REQUIRED)
  add_library(svod_clang_interface INTERFACE)
  if(SVOD_STATIC_LLVM)
    # clang-cpp names the shared libLLVM, and two copies of LLVM in one program clash.
    set(archives CodeGen Frontend Driver Serialization Parse Sema APINotes Analysis Edit ASTMatchers AST Support
      Lex Basic)
    list(TRANSFORM archives PREPEND /usr/lib/llvm-19/lib/libclang)
    list(TRANSFORM archives APPEND .a)
    llvm_map_components_to_libnames(components coverage frontenddriver frontendhlsl frontendopenmp instrumentation lto option
      passes windowsdriver)
    target_link_libraries(svod_clang_interface INTERFACE ${archives} ${components} svod::llvm)
  else()
    target_link_libraries(svod_clang_interface INTERFACE ${SVOD_CLANG_CPP} svod::llvm)
  endif()
  add_library(svod::clang ALIAS svod_clang_interface)
endfunction()
