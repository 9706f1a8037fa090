# Run by CPack between installing the components and packing them: files in the form that Debian has for them. The wheel becomes the
# package that `import svod` finds, man pages are compressed, the license is the one that every Debian has, and each package has a
# list of changes.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(share ${CPACK_TEMPORARY_DIRECTORY}/*${CPACK_PACKAGING_INSTALL_PREFIX}/share)

file(GLOB wheels ${share}/svod/svod-*.whl)
foreach(wheel IN LISTS wheels)
  cmake_path(SET packages NORMALIZE ${wheel}/../../../lib/python3/dist-packages)
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${packages})
  file(GLOB libraries ${packages}/svod/lib/*)
  file(CHMOD ${libraries} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(REMOVE ${wheel})
endforeach()

file(GLOB pages ${share}/man/man*/*)
file(GLOB notices ${share}/doc/*/copyright)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH sets it
foreach(notice IN LISTS notices)
  file(READ ${notice} text)
  string(FIND "${text}" "Apache License\n" first)
  set(last "END OF TERMS AND CONDITIONS")
  string(FIND "${text}" "${last}" end)
  string(LENGTH "${last}" length)
  math(EXPR end "${end} + ${length}")
  string(SUBSTRING "${text}" 0 ${first} before)
  string(SUBSTRING "${text}" ${end} -1 behind)
  file(WRITE ${notice} "${before}Apache License, Version 2.0: /usr/share/common-licenses/Apache-2.0\n${behind}\n"
    "The General Public License of GNU, version 3: /usr/share/common-licenses/GPL-3\n")
  cmake_path(GET notice PARENT_PATH folder)
  file(WRITE ${folder}/changelog "svod (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
    "  * CHANGELOG.md lists what changed.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  list(APPEND pages ${folder}/changelog)
endforeach()
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip -9 --no-name ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
