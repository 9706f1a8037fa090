# -DSVOD_RUNTIME_ONLY=ON: the runtime library alone, with a C++ compiler that knows C++23 and nothing else. The rooms it
# is made of are built as ever, but for the files of theirs that other programs use.

set(CMAKE_CXX_STANDARD 23)  # whose std::expected takes the place of the package tl-expected
find_package(Threads REQUIRED)
add_library(tl_expected INTERFACE)
target_include_directories(tl_expected INTERFACE ${PROJECT_SOURCE_DIR}/runtime-min/standalone)
add_library(tl::expected ALIAS tl_expected)
add_library(no_json INTERFACE)
add_library(nlohmann_json::nlohmann_json ALIAS no_json)

add_custom_target(programs)
foreach(room support data plan)
  add_subdirectory(lib/${room})
endforeach()
get_target_property(sources svod_data SOURCES)
list(REMOVE_ITEM sources safetensors.cpp)
set_target_properties(svod_data PROPERTIES SOURCES "${sources}")
add_subdirectory(runtime-min)
if(CMAKE_SIZEOF_VOID_P EQUAL 8)  # as its driver is
  add_subdirectory(runtime-cuda)
endif()
foreach(room support data plan runtime-min)  # whose sources are compiled for the library that is shipped
  set_target_properties(svod_${room} PROPERTIES EXCLUDE_FROM_ALL TRUE)
endforeach()
