# svod_add_plan(NAME GRAPH file [OUTPUT folder] [PACK file] [CPU cpu] [TRIPLE triple] [FLAGS flag ...] [ALL])
# A target NAME that compiles a graph or model to the plan OUTPUT (NAME.plan in the build folder), again whenever a
# file changed that it was made from. What depends on the plan depends on the target, or on the file OUTPUT/plan.json, which
# changes only when the plan does. The property SVOD_PLAN of the target is the folder.
# TRIPLE is by default that of the machine which the toolchain file of a cross-build names, and CPU any processor of that.
# PACK writes the plan as one file too, on which others depend in the same way; the property SVOD_PACK is its path.
#
# svod_add_model_library(NAME GRAPH file [STATIC | SHARED | C] [HEADER file] [PREFIX prefix] [CPU cpu] [TRIPLE triple] [FLAGS flag ...])
# A library NAME of the whole graph as a function, which programs link without any library of svod and call by the header
# HEADER (NAME.h): a static one unless it says otherwise, or C that is compiled as the rest of the project is, for whatever
# machine. Its names begin with PREFIX, by default NAME, so that a program may have several.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20)  # depfiles of Ninja and make alike

# svodc runs on the machine that builds, whatever machine the package is for.
function(svod_need_svodc command)
  if(NOT TARGET svod::svodc)
    message(FATAL_ERROR "${command} needs svodc of the machine that builds, which this package has not: set SVOD_HOST_TOOLS to the "
                        "prefix of an svod for it (-DSVOD_HOST_TOOLS=/opt/svod), or put svodc on the PATH")
  endif()
endfunction()

# Compiles `graph` with the flags behind it into `files`; the target depends on `stamp`: when they were last looked at.
function(svod_compile_step stamp graph files)
  add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${files}
    COMMAND svod::svodc compile ${graph} ${ARGN} -MF ${stamp}.d -MT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${graph} $<TARGET_FILE:svod::svodc>
    DEPFILE ${stamp}.d COMMENT "Compiling ${graph}" VERBATIM)
endfunction()

# A target that makes `stamp`. Ninja looks for by-products that are gone; under make a target before this one does.
function(svod_add_stamp_target target stamp files)
  add_custom_target(${target} ${ARGN} DEPENDS ${stamp})
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    file(WRITE ${stamp}.cmake "set(files [==[${files}]==])
foreach(file IN LISTS files)
  if(NOT EXISTS \"\${file}\")
    file(REMOVE [==[${stamp}]==])
  endif()
endforeach()
")
    add_custom_target(${target}_look COMMAND ${CMAKE_COMMAND} -P ${stamp}.cmake VERBATIM)
    add_dependencies(${target} ${target}_look)
  endif()
endfunction()

# Adds --triple and --cpu to `flags`: what was asked for, or what the toolchain file of a cross-build names.
function(svod_add_machine flags triple cpu)
  set(all ${${flags}})
  if(NOT triple)
    set(triple ${SVOD_TARGET_TRIPLE})
    if(NOT cpu AND NOT "--cpu" IN_LIST all)
      set(cpu ${SVOD_TARGET_CPU})
    endif()
  endif()
  if(triple)
    list(APPEND all --triple ${triple})
  endif()
  if(cpu)
    list(APPEND all --cpu ${cpu})
  endif()
  set(${flags} ${all} PARENT_SCOPE)
endfunction()

function(svod_add_plan name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALL" "GRAPH;OUTPUT;PACK;CPU;TRIPLE" "FLAGS")
  if(NOT arg_GRAPH OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "svod_add_plan(${name} GRAPH file [OUTPUT folder] [PACK file] [CPU cpu] [TRIPLE triple] [FLAGS flag ...] [ALL]): "
                        "GRAPH is missing, or this is too much: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  svod_need_svodc(svod_add_plan)
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name}.plan)
  endif()
  cmake_path(ABSOLUTE_PATH arg_GRAPH BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
  if(arg_PACK)
    cmake_path(ABSOLUTE_PATH arg_PACK BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
    list(APPEND arg_FLAGS --emit pack=${arg_PACK})
  endif()
  svod_add_machine(arg_FLAGS "${arg_TRIPLE}" "${arg_CPU}")
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.stamp)
  set(files ${arg_OUTPUT}/plan.json ${arg_PACK})
  svod_compile_step(${stamp} ${arg_GRAPH} "${files}" -o ${arg_OUTPUT} ${arg_FLAGS})
  set(all "")
  if(arg_ALL)
    set(all ALL)
  endif()
  svod_add_stamp_target(${name} ${stamp} "${files}" ${all})
  set_target_properties(${name} PROPERTIES SVOD_PLAN ${arg_OUTPUT} SVOD_PACK "${arg_PACK}"
    ADDITIONAL_CLEAN_FILES ${arg_OUTPUT})  # which files a plan has depends on the graph
endfunction()

function(svod_add_model_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;C" "GRAPH;HEADER;PREFIX;CPU;TRIPLE" "FLAGS")
  if(NOT arg_GRAPH OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "svod_add_model_library(${name} GRAPH file [STATIC | SHARED | C] [HEADER file] [PREFIX prefix] "
                        "[CPU cpu] [TRIPLE triple] [FLAGS flag ...]): GRAPH is missing, or this is too much: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  svod_need_svodc(svod_add_model_library)
  cmake_path(ABSOLUTE_PATH arg_GRAPH BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT arg_HEADER)
    set(arg_HEADER ${name}.h)
  endif()
  if(NOT arg_PREFIX)
    string(MAKE_C_IDENTIFIER ${name} arg_PREFIX)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.model)
  file(MAKE_DIRECTORY ${folder})
  if(arg_C)
    set(file ${folder}/${name}.c)
    set(kind c)
    list(APPEND arg_FLAGS --target c --cc none)
  elseif(arg_SHARED)
    set(file ${folder}/lib${name}.so)
    set(kind shared-lib)
  else()
    set(file ${folder}/lib${name}.a)
    set(kind static-lib)
  endif()
  list(APPEND arg_FLAGS --prefix ${arg_PREFIX})
  svod_add_machine(arg_FLAGS "${arg_TRIPLE}" "${arg_CPU}")
  set(stamp ${folder}/stamp)
  set(files ${file} ${folder}/${arg_HEADER})
  svod_compile_step(${stamp} ${arg_GRAPH} "${files}" --emit ${kind}=${file} --emit header=${folder}/${arg_HEADER} ${arg_FLAGS})
  svod_add_stamp_target(${name}_files ${stamp} "${files}")
  if(arg_C)
    set_source_files_properties(${file} PROPERTIES GENERATED TRUE)
    add_library(${name} STATIC ${file})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 11 INTERFACE_LINK_LIBRARIES "$<$<BOOL:${UNIX}>:m>")
  elseif(arg_SHARED)
    add_library(${name} SHARED IMPORTED GLOBAL)
  else()
    add_library(${name} STATIC IMPORTED GLOBAL)
  endif()
  add_dependencies(${name} ${name}_files)
  set_target_properties(${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${folder})
  if(NOT arg_C)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${file})
  endif()
endfunction()

cmake_policy(POP)
