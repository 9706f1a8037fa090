# Man pages and completion for bash, zsh and fish, made from what the programs say of their flags; `cmake --install` puts
# them where shells and man look. The page of graph files
# is made of docs/graph-format.md. The pages of docs/ go beside the examples, as they are and as HTML. It needs python3, and programs that run here.
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
  set(blocks ${PROJECT_SOURCE_DIR}/scripts/page_blocks.py)
  add_custom_command(OUTPUT ${place}/man/man5/svod-graph.5
    COMMAND ${SVOD_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/graph_manual.py ${place}/man/man5/svod-graph.5 $<TARGET_FILE:svodc>
    DEPENDS ${PROJECT_SOURCE_DIR}/scripts/graph_manual.py ${blocks} ${PROJECT_SOURCE_DIR}/docs/graph-format.md svodc VERBATIM)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md ${PROJECT_SOURCE_DIR}/docs/*)
  add_custom_command(OUTPUT ${pages}/README.md
    COMMAND ${SVOD_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/copy_pages.py ${pages}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/scripts/copy_pages.py ${PROJECT_SOURCE_DIR}/scripts/html_pages.py ${blocks} VERBATIM)
  add_custom_target(svod_manuals ALL DEPENDS ${place}/man/man1/svodc.1 ${place}/man/man5/svod-graph.5 ${pages}/README.md)
  add_dependencies(programs svod_manuals)
  install(DIRECTORY ${place}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT runtime FILES_MATCHING PATTERN "*svod-run*" PATTERN "man5" EXCLUDE)
  install(DIRECTORY ${place}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT compiler PATTERN "*svod-run*" EXCLUDE)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT dev)
endfunction()
