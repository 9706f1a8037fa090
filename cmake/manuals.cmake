# Man pages and completion for bash, zsh and fish, made from what the programs say of their flags; `cmake --install` puts
# them where shells and man look. The pages of docs/ go beside the examples. It needs python3, and programs that run here.
function(svod_add_manuals)
  find_program(SVOD_PYTHON python3)
  if(NOT SVOD_PYTHON OR SVOD_SANITIZE OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(place ${PROJECT_BINARY_DIR}/manuals)
  set(programs svodc svod-run svod-opt)
  set(files ${programs})
  list(TRANSFORM files REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  add_custom_command(OUTPUT ${place}/man/man1/svodc.1
    COMMAND ${SVOD_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/manuals.py ${place} ${files}
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/manuals.py ${programs} VERBATIM)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/*)
  add_custom_command(OUTPUT ${pages}/README.md
    COMMAND ${SVOD_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/copy_pages.py ${pages}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/scripts/copy_pages.py VERBATIM)
  add_custom_target(svod_manuals ALL DEPENDS ${place}/man/man1/svodc.1 ${pages}/README.md)
  add_dependencies(programs svod_manuals)
  install(DIRECTORY ${place}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT runtime FILES_MATCHING PATTERN "*svod-run*")
  install(DIRECTORY ${place}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT compiler PATTERN "*svod-run*" EXCLUDE)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT dev)
endfunction()
