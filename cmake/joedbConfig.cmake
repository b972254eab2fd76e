cmake_minimum_required(VERSION 3.25)
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(absl)
find_package(OpenSSL QUIET)  # only programs that link joedb::network need it
include(${CMAKE_CURRENT_LIST_DIR}/joedbTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/JoedbGenerate.cmake)
