# Debian packages by CPack, one per component of `cmake --install`: `cpack -G DEB -B FOLDER --config build/PRESET/CPackConfig.cmake`.
# component | package | synopsis | description
set(SVOD_PACKAGES
  "runtime|svod-runtime|runs compiled tensor graphs|The library libsvod-runtime.so.0, which loads and runs plans, components for devices, and the program svod-run."
  "dev|svod-dev|builds programs that run compiled tensor graphs|Headers, the static runtime, find_package(svod), svod_add_plan, svod-runtime.pc, pages and examples."
  "compiler|svod|ahead-of-time compiler of tensor graphs|The program svodc, which compiles graphs and ONNX models into plans, and svod-opt, which runs its passes one by one."
  "library|svod-compiler|ahead-of-time compiler of tensor graphs, as a library|The library libsvod-compiler.so.0 and its headers, with which programs build graphs and compile them."
  "python|python3-svod|compiles and runs tensor graphs from Python|The Python package svod, with the runtime library inside.")

# What must be loaded anew where a package has shared libraries.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/triggers CONTENT "activate-noawait ldconfig\n")

# svod_debian_packages(part ...): those parts as packages.
function(svod_debian_packages)
  set(CPACK_COMPONENTS_ALL ${ARGV})
  set(CPACK_PACKAGE_NAME svod)
  set(CPACK_PACKAGE_VENDOR svod)
  set(CPACK_PACKAGE_CONTACT "svod maintainers <maintainers@svod.invalid>")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
  set(CPACK_DEBIAN_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/runtime-min)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
  foreach(row IN LISTS SVOD_PACKAGES)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 part)
    list(GET row 1 name)
    list(GET row 2 synopsis)
    list(GET row 3 description)
    string(TOUPPER ${part} key)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${synopsis}\n${description}")
  endforeach()
  foreach(key RUNTIME LIBRARY)
    set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
  endforeach()
  set(CPACK_DEBIAN_DEV_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "svod-runtime (= ${PROJECT_VERSION}), python3")  # for scripts of examples
  if(compiler IN_LIST ARGV)  # find_package(svod) wants the files of all it knows
    string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", svod (= ${PROJECT_VERSION})")
  endif()
  set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "svod-dev (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "svod (= ${PROJECT_VERSION})")
  include(CPack)
endfunction()
