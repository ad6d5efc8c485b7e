# SPDX-License-Identifier: Apache-2.0
# libcostmodel, shared and static. The program links the static one, so that it runs without a
# library path once installed.

function(costmodel_library target kind)
  add_library(${target} ${kind})
  costmodel_link_folders(${target} ${COSTMODEL_FOLDERS})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:version>)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME costmodel LINKER_LANGUAGE C)
endfunction()

# The version of the ABI; docs/library.md states when it changes.
set(COSTMODEL_SOVERSION 1)

if(NOT COSTMODEL_STATIC) # the static build has no shared library
  costmodel_library(costmodel SHARED)
  set_target_properties(costmodel PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${COSTMODEL_SOVERSION})
  # The program provides the sanitizer's symbols; the linker of macOS refuses undefined symbols anyway.
  if(NOT COSTMODEL_SANITIZE AND NOT APPLE)
    target_link_options(costmodel PRIVATE LINKER:-z,defs)
  endif()
  if(NOT APPLE) # there, the visibility of CM_API is all that decides
    set(map ${PROJECT_BINARY_DIR}/costmodel.map)
    configure_file(cmake/costmodel.map.in ${map} @ONLY)
    target_link_options(costmodel PRIVATE LINKER:--version-script=${map})
    set_target_properties(costmodel PROPERTIES LINK_DEPENDS ${map})
  endif()
endif()
costmodel_library(costmodel_static STATIC)
if(COSTMODEL_STATIC)
  target_sources(costmodel_static PRIVATE
    $<TARGET_OBJECTS:foreign_CJSON> $<TARGET_OBJECTS:foreign_PROTOBUF_C>)
endif()

file(GLOB program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c
  ${PROJECT_SOURCE_DIR}/cli/check/*.c)
if(NOT COSTMODEL_TIMING)
  list(REMOVE_ITEM program_sources ${PROJECT_SOURCE_DIR}/cli/backends.c)
  list(APPEND program_sources ${PROJECT_SOURCE_DIR}/cli/untimed/backends.c)
endif()
# The guides, which `costmodel guide` prints.
file(GLOB guide_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/guides/*.md)
list(REMOVE_ITEM guide_files ${PROJECT_SOURCE_DIR}/docs/guides/README.md)
set(guide_table ${PROJECT_BINARY_DIR}/guides/guide_texts.c)
embed_texts(${guide_table} cli/guide.h "struct guide guides" ${guide_files})
add_executable(costmodel_program ${program_sources} ${guide_table})
target_include_directories(costmodel_program PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(costmodel_program PRIVATE costmodel_static)
set_target_properties(costmodel_program PROPERTIES OUTPUT_NAME costmodel)
if(WIN32) # zig compiles resources that are linked
  target_link_options(costmodel_program PRIVATE ${PROJECT_SOURCE_DIR}/cmake/windows.rc)
endif()
