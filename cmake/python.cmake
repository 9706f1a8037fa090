# The Python package: a folder that pip installs, build/PRESET/python, and a wheel in it; `cmake --install` puts the wheel
# into share/svod. It needs python3 alone.
function(svod_add_python)
  find_program(SVOD_PYTHON python3)
  if(NOT SVOD_PYTHON OR SVOD_SANITIZE)
    return()
  endif()
  set(place ${PROJECT_BINARY_DIR}/python)
  get_property(components GLOBAL PROPERTY SVOD_DEVICE_COMPONENTS)
  set(copies)
  foreach(component IN LISTS components)
    list(APPEND copies COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:${component}>
      ${place}/lib/$<TARGET_SONAME_FILE_NAME:${component}>)
    list(APPEND copies COMMAND ${CMAKE_STRIP} ${place}/lib/$<TARGET_SONAME_FILE_NAME:${component}>)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/svod/*.py)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/python/svod_wheel.py ${PROJECT_SOURCE_DIR}/python/pyproject.toml
    ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD-PARTY.md)
  set(wheel ${place}/svod-${PROJECT_VERSION}-py3-none-linux_${CMAKE_SYSTEM_PROCESSOR}.whl)
  file(CONFIGURE OUTPUT ${place}/version CONTENT "${PROJECT_VERSION}\n")
  add_custom_command(OUTPUT ${wheel}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_SOURCE_DIR}/python ${place}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${place}/lib
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD-PARTY.md ${place}
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:svod_runtime_shared> ${place}/lib/libsvod-runtime.so.0
    COMMAND ${CMAKE_STRIP} ${place}/lib/libsvod-runtime.so.0
    ${copies}
    COMMAND ${SVOD_PYTHON} ${place}/svod_wheel.py ${place} ${PROJECT_VERSION} ${place}
    DEPENDS ${sources} svod_runtime_shared ${components} VERBATIM)
  add_custom_target(svod_python ALL DEPENDS ${wheel})
  add_dependencies(programs svod_python)
  install(FILES ${wheel} DESTINATION ${CMAKE_INSTALL_DATADIR}/svod COMPONENT python)
endfunction()

# svod_wheel: the wheel with everything, build/PRESET/wheel/svod-*.whl, where programs need libc alone. `./dev wheel` makes it.
function(svod_add_wheel)
  if(TARGET svod_python AND SVOD_RELOCATABLE)
    add_custom_target(svod_wheel
      COMMAND ${SVOD_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/make_wheel.py ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/wheel VERBATIM)
    add_dependencies(svod_wheel programs)
  endif()
endfunction()

# svod_numpy_python(OUT): a python3 that has numpy; Debian's has its python3-numpy, whichever stands first in PATH.
function(svod_numpy_python out)
  foreach(program IN ITEMS python3 /usr/bin/python3)
    execute_process(COMMAND ${program} -c "import numpy" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      set(${out} ${program} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} python3 PARENT_SCOPE)  # which skips what needs it
endfunction()
