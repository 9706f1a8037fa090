# find_package(svod): svod::runtime (shared), svod::runtime_static, svod::svod-run, svod::svodc, and svod_add_plan; svod::compiler where
# the package svod-compiler is there.
# The libraries and svod-run are of the machine that the package was built for. svodc runs on the one that builds: where the
# package has none, or SVOD_HOST_TOOLS names the prefix of another svod, it is that one, and otherwise the one on the PATH.
include(${CMAKE_CURRENT_LIST_DIR}/svodTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/svodCompilerTargets.cmake OPTIONAL)
include(${CMAKE_CURRENT_LIST_DIR}/svodHostTools.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/svodAddPlan.cmake)
