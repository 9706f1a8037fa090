# find_package(svod): svod::runtime (shared), svod::runtime_static, svod::svodc, svod::svod-run, and svod_add_plan.
include(${CMAKE_CURRENT_LIST_DIR}/svodTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/svodAddPlan.cmake)
