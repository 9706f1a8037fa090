# Debian packages by CPack, one per component of `cmake --install`: `cpack -G DEB -B FOLDER --config build/PRESET/CPackConfig.cmake`.
set(SVOD_PACKAGES
  "runtime|svod-runtime|libsvod-runtime.so.0, which loads and runs plans, components for devices, and svod-run"
  "dev|svod-dev|headers, the static runtime, find_package(svod), svod_add_plan and svod-runtime.pc"
  "compiler|svod|svodc, which compiles graphs into plans, and svod-opt, which runs its passes one by one"
  "library|svod-compiler|libsvod-compiler.so.0 and its headers: programs build graphs and compile them"
  "python|svod-python|the wheel of the Python package, which pip installs: /usr/share/svod/svod-*.whl")

# svod_debian_packages(part ...): those parts as packages.
function(svod_debian_packages)
  set(CPACK_COMPONENTS_ALL ${ARGV})
  set(CPACK_PACKAGE_NAME svod)
  set(CPACK_PACKAGE_VENDOR svod)
  set(CPACK_PACKAGE_CONTACT "the founders of svod")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/runtime-min)
  foreach(row IN LISTS SVOD_PACKAGES)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 part)
    list(GET row 1 name)
    list(GET row 2 text)
    string(TOUPPER ${part} key)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${text}")
  endforeach()
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "svod-runtime (= ${PROJECT_VERSION})")
  if(compiler IN_LIST ARGV)  # find_package(svod) wants the files of all it knows
    string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", svod (= ${PROJECT_VERSION})")
  endif()
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "svod-dev (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
  include(CPack)
endfunction()
