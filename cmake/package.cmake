# What `cmake --install` adds to programs, libraries and headers: find_package(svod), svod_add_plan, pkg-config and the examples.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(svod_install_package)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/svod)
  install(EXPORT svodTargets NAMESPACE svod:: DESTINATION ${folder} COMPONENT dev)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/svodConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/svodConfig.cmake ${PROJECT_SOURCE_DIR}/cmake/svodAddPlan.cmake
    ${PROJECT_SOURCE_DIR}/cmake/svodHostTools.cmake
    ${PROJECT_BINARY_DIR}/svodConfigVersion.cmake DESTINATION ${folder} COMPONENT dev)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT dev
    USE_SOURCE_PERMISSIONS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/toolchains DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT dev)
  file(RELATIVE_PATH SVOD_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/svod-runtime.pc.in ${PROJECT_BINARY_DIR}/svod-runtime.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/svod-runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endfunction()
