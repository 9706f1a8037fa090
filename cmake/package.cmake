# What `cmake --install` adds to programs, libraries and headers: find_package(svod), svod_add_plan, pkg-config, the examples,
# licenses and the list of changes.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(svod_install_package)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/svod)
  install(EXPORT svodTargets NAMESPACE svod:: DESTINATION ${folder} COMPONENT dev)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/svodConfigVersion.cmake COMPATIBILITY SameMinorVersion
    ARCH_INDEPENDENT)  # svodConfig.cmake says what a package for another machine has
  file(RELATIVE_PATH SVOD_PREFIX_FROM_CMAKE /${folder} /)
  string(REGEX REPLACE "/$" "" SVOD_PREFIX_FROM_CMAKE "${SVOD_PREFIX_FROM_CMAKE}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/svodConfig.cmake.in ${PROJECT_BINARY_DIR}/svodConfig.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/svodConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/svodAddPlan.cmake
    ${PROJECT_SOURCE_DIR}/cmake/svodHostTools.cmake
    ${PROJECT_BINARY_DIR}/svodConfigVersion.cmake DESTINATION ${folder} COMPONENT dev)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT dev
    USE_SOURCE_PERMISSIONS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/toolchains DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT dev)
  file(RELATIVE_PATH SVOD_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/svod-runtime.pc.in ${PROJECT_BINARY_DIR}/svod-runtime.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/svod-runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
  if(TARGET svod_compiler_shared)
    install(EXPORT svodCompilerTargets NAMESPACE svod:: DESTINATION ${folder} COMPONENT library)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/svod-compiler.pc.in ${PROJECT_BINARY_DIR}/svod-compiler.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/svod-compiler.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
  endif()
endfunction()

# svod_install_notices(part ...): each Debian package has the licenses of svod and of what it contains, and the list of changes.
function(svod_install_notices)
  set(text "")
  foreach(name LICENSE THIRD-PARTY.md)
    file(READ ${PROJECT_SOURCE_DIR}/${name} part)
    string(APPEND text "${part}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name})
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/copyright CONTENT "@text@" @ONLY)
  foreach(row IN LISTS SVOD_PACKAGES)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 part)
    list(GET row 1 name)
    if(part IN_LIST ARGV)
      install(FILES ${PROJECT_BINARY_DIR}/copyright ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${part})
    endif()
  endforeach()
endfunction()
