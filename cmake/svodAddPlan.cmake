# svod_add_plan(NAME GRAPH file [OUTPUT folder] [PACK file] [CPU cpu] [FLAGS flag ...] [ALL])
# A target NAME that compiles a graph or model to the plan OUTPUT (NAME.plan in the build folder), again whenever a
# file changed that it was made from. What depends on the plan depends on the target, or on the file OUTPUT/plan.json, which
# changes only when the plan does. The property SVOD_PLAN of the target is the folder.
# PACK writes the plan as one file too, on which others depend in the same way; the property SVOD_PACK is its path.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20)  # depfiles of Ninja and make alike

function(svod_add_plan name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALL" "GRAPH;OUTPUT;PACK;CPU" "FLAGS")
  if(NOT arg_GRAPH OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "svod_add_plan(${name} GRAPH file [OUTPUT folder] [PACK file] [CPU cpu] [FLAGS flag ...] [ALL]): "
                        "GRAPH is missing, or this is too much: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name}.plan)
  endif()
  cmake_path(ABSOLUTE_PATH arg_GRAPH BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  cmake_path(ABSOLUTE_PATH arg_OUTPUT BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
  if(arg_PACK)
    cmake_path(ABSOLUTE_PATH arg_PACK BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} NORMALIZE)
    list(APPEND arg_FLAGS --emit pack=${arg_PACK})
  endif()
  if(arg_CPU)
    list(APPEND arg_FLAGS --cpu ${arg_CPU})
  endif()
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${name}.stamp)  # when the plan was last looked at
  add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${arg_OUTPUT}/plan.json ${arg_PACK}
    COMMAND svod::svodc compile ${arg_GRAPH} -o ${arg_OUTPUT} ${arg_FLAGS} -MF ${stamp}.d -MT ${stamp}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${arg_GRAPH} $<TARGET_FILE:svod::svodc>
    DEPFILE ${stamp}.d COMMENT "Compiling ${name}.plan" VERBATIM)
  set(all "")
  if(arg_ALL)
    set(all ALL)
  endif()
  add_custom_target(${name} ${all} DEPENDS ${stamp})
  set_target_properties(${name} PROPERTIES SVOD_PLAN ${arg_OUTPUT} SVOD_PACK "${arg_PACK}")
endfunction()

cmake_policy(POP)
