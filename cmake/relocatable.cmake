# svod_relocatable(PROGRAM): makes it a file that needs libc alone: LLVM, Clang, protobuf, the libraries of compression and that of
# C++ are inside. It runs wherever the system has a libc as new as the one here.
function(svod_relocatable program)
  set_target_properties(${program} PROPERTIES SVOD_RELOCATABLE TRUE)
  target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  get_target_property(needs_llvm ${program} SVOD_NEEDS_LLVM)
  if(needs_llvm)
    set(stands_in fmt.cpp polly.cpp targets.cpp)
    list(TRANSFORM stands_in PREPEND ${PROJECT_SOURCE_DIR}/cmake/relocatable/)
    target_sources(${program} PRIVATE ${stands_in})
    set_source_files_properties(${stands_in} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  svod_older_libc(${program})
endfunction()

# svod_older_libc(TARGET): it runs with a libc from before the functions in relocatable/random.cpp.
function(svod_older_libc target)
  if(NOT TARGET svod_older_libc)
    add_library(svod_older_libc OBJECT ${PROJECT_SOURCE_DIR}/cmake/relocatable/random.cpp)
  endif()
  target_link_libraries(${target} PRIVATE svod_older_libc)
endfunction()

# svod_relocatable_copy(PROGRAM): the target PROGRAM_relocatable, made of the same objects: relocatable/PROGRAM in the build folder.
function(svod_relocatable_copy program)
  get_target_property(libraries ${program} LINK_LIBRARIES)
  get_target_property(needs_llvm ${program} SVOD_NEEDS_LLVM)
  add_executable(${program}_relocatable $<TARGET_OBJECTS:${program}>)
  target_link_libraries(${program}_relocatable PRIVATE ${libraries})
  target_link_options(${program}_relocatable PRIVATE -Wl,--build-id)
  set_target_properties(${program}_relocatable PROPERTIES SVOD_NEEDS_LLVM "${needs_llvm}" OUTPUT_NAME ${program}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/relocatable)
  svod_relocatable(${program}_relocatable)
endfunction()
