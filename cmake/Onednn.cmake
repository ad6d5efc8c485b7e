# SPDX-License-Identifier: Apache-2.0
# The oneDNN backend, a module. Building requires the headers, running requires the library
# (backends/onednn/api.h).
set(COSTMODEL_ONEDNN AUTO CACHE STRING "The oneDNN backend: AUTO (if its headers are here), ON, OFF")
set_property(CACHE COSTMODEL_ONEDNN PROPERTY STRINGS AUTO ON OFF)

if(COSTMODEL_ONEDNN STREQUAL "OFF")
  return()
endif()
find_path(ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h DOC "The folder of oneapi/dnnl/dnnl.h")
mark_as_advanced(ONEDNN_INCLUDE_DIR)
if(NOT ONEDNN_INCLUDE_DIR)
  if(NOT COSTMODEL_ONEDNN STREQUAL "AUTO")
    message(FATAL_ERROR "COSTMODEL_ONEDNN is ON, but oneapi/dnnl/dnnl.h is not found: "
      "install libdnnl-dev, or set ONEDNN_INCLUDE_DIR")
  endif()
  message(STATUS "oneDNN backend skipped: oneapi/dnnl/dnnl.h not found, install libdnnl-dev")
  return()
endif()
message(STATUS "oneDNN headers: ${ONEDNN_INCLUDE_DIR}")

file(GLOB onednn_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/onednn/*.c)
list(APPEND onednn_sources ${PROJECT_SOURCE_DIR}/backends/coalesce_dims.c
  ${PROJECT_SOURCE_DIR}/backends/primitive_size.c)
add_library(costmodel_onednn MODULE ${onednn_sources})
# For madvise, which is not in POSIX.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/backends/onednn/plan.c
  APPEND PROPERTY COMPILE_DEFINITIONS _DEFAULT_SOURCE)
target_include_directories(costmodel_onednn PRIVATE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_include_directories(costmodel_onednn SYSTEM PRIVATE ${ONEDNN_INCLUDE_DIR})
target_link_libraries(costmodel_onednn PRIVATE ${CMAKE_DL_LIBS} m)
set_target_properties(costmodel_onednn PROPERTIES
  PREFIX "" OUTPUT_NAME costmodel-onednn SUFFIX .so
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/backends)
install(TARGETS costmodel_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/costmodel
  COMPONENT runtime)
