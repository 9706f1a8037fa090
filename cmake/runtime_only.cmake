# -DSVOD_RUNTIME_ONLY=ON: the runtime library alone, with a C++ compiler that knows C++23 and nothing else. The rooms it
# is made of are built as ever, but for the files of theirs that other programs use.

set(CMAKE_CXX_STANDARD 23)  # whose std::expected takes the place of the package tl-expected
find_package(Threads REQUIRED)
add_library(tl_expected INTERFACE)
target_include_directories(tl_expected INTERFACE ${PROJECT_SOURCE_DIR}/runtime-min/standalone)
add_library(tl::expected ALIAS tl_expected)
add_library(json INTERFACE)  # the rooms of the runtime need none
add_library(nlohmann_json::nlohmann_json ALIAS json)

add_custom_target(programs)

# svod-run needs two packages that are headers alone, of whatever machine; without them the libraries are all there is.
find_path(SVOD_CLI11 CLI/CLI.hpp NO_CMAKE_FIND_ROOT_PATH)
find_path(SVOD_JSON nlohmann/json.hpp NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(SVOD_CLI11 SVOD_JSON)
if(SVOD_CLI11 AND SVOD_JSON)  # in a folder of their own: beside them may be headers of another C library
  set(folder ${PROJECT_BINARY_DIR}/headers)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${SVOD_CLI11}/CLI ${folder}/CLI SYMBOLIC)
  file(CREATE_LINK ${SVOD_JSON}/nlohmann ${folder}/nlohmann SYMBOLIC)
  add_library(headers INTERFACE)
  target_include_directories(headers SYSTEM INTERFACE ${folder})
  add_library(CLI11::CLI11 ALIAS headers)
  target_link_libraries(json INTERFACE headers)
else()
  message(STATUS "svod-run is left out: it needs CLI11 and nlohmann_json (Debian: libcli11-dev nlohmann-json3-dev)")
endif()
foreach(room support data plan)
  add_subdirectory(lib/${room})
endforeach()
get_target_property(sources svod_support SOURCES)
list(REMOVE_ITEM sources decision.cpp)  # which only a compiler needs, and which asks more of the C++ library
set_target_properties(svod_support PROPERTIES SOURCES "${sources}")
if(NOT TARGET headers)
  get_target_property(sources svod_data SOURCES)
  list(REMOVE_ITEM sources safetensors.cpp)
  set_target_properties(svod_data PROPERTIES SOURCES "${sources}")
endif()
add_subdirectory(runtime-min)
if(TARGET headers)
  add_subdirectory(lib/console)
  add_subdirectory(tools/svod-run)
endif()
if(CMAKE_SIZEOF_VOID_P EQUAL 8)  # as its driver is
  file(GLOB components CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} runtime-*/CMakeLists.txt)
  list(REMOVE_ITEM components runtime-min/CMakeLists.txt)
  foreach(component IN LISTS components)
    get_filename_component(folder ${component} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endif()
foreach(room support data plan runtime-min)  # whose sources are compiled for the library that is shipped
  set_target_properties(svod_${room} PROPERTIES EXCLUDE_FROM_ALL TRUE)
endforeach()
