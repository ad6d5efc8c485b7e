# SPDX-License-Identifier: Apache-2.0
# One OBJECT library a layer, from cmake/layers.txt. A .c file in a layer's folder belongs to the
# layer (docs/decisions/sources-by-glob.md); a layer without one makes no target.

find_program(PROTOC_C protoc-c REQUIRED)
set(proto_dir ${PROJECT_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${proto_dir})
add_custom_command(
  OUTPUT ${proto_dir}/onnx.pb-c.c ${proto_dir}/onnx.pb-c.h
  COMMAND ${PROTOC_C} --c_out=${proto_dir} --proto_path=${PROJECT_SOURCE_DIR}/frontend onnx.proto
  DEPENDS ${PROJECT_SOURCE_DIR}/frontend/onnx.proto
  VERBATIM)
add_library(layer_proto OBJECT ${proto_dir}/onnx.pb-c.c)
target_include_directories(layer_proto SYSTEM PUBLIC ${proto_dir})
target_link_libraries(layer_proto PUBLIC PkgConfig::PROTOBUF_C)
target_compile_options(layer_proto PRIVATE -w)

# The libraries of others that a layer needs; costmodel.pc.in and costmodelConfig.cmake.in repeat
# them for users of the static library.
set(foreign_frontend PkgConfig::PROTOBUF_C)
set(foreign_backends PkgConfig::CJSON m ${CMAKE_DL_LIBS})
set(foreign_ops m)
set(foreign_report PkgConfig::CJSON)

file(STRINGS cmake/layers.txt rows REGEX "^[a-z]+ ") # not the rows of single files
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/layers.txt)
set(COSTMODEL_LAYERS "") # bottom first, without the program
foreach(row IN LISTS rows)
  string(REGEX MATCH "^([a-z]+) *\\|([^|]*)" unused "${row}")
  set(layer ${CMAKE_MATCH_1})
  separate_arguments(below UNIX_COMMAND "${CMAKE_MATCH_2}")
  list(REMOVE_ITEM below include)
  set(COSTMODEL_BELOW_${layer} ${below})
  if(layer STREQUAL cli)
    continue()
  endif()
  list(APPEND COSTMODEL_LAYERS ${layer})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${layer}/*.c)
  if(sources)
    add_library(layer_${layer} OBJECT ${sources})
    target_include_directories(layer_${layer} PUBLIC
      ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(layer_${layer} PUBLIC ${foreign_${layer}})
  endif()
endforeach()
if(TARGET layer_frontend)
  target_link_libraries(layer_frontend PUBLIC layer_proto)
endif()

# Where modules are: beside the folder of the program, and where they are installed.
file(RELATIVE_PATH backend_folder ${CMAKE_INSTALL_FULL_BINDIR}/..
  ${CMAKE_INSTALL_FULL_LIBDIR}/costmodel)
target_compile_definitions(layer_backends PRIVATE
  COSTMODEL_BACKEND_FOLDER="${backend_folder}"
  COSTMODEL_BACKEND_INSTALLED="${CMAKE_INSTALL_FULL_LIBDIR}/costmodel")

# The objects and the foreign libraries of these layers, as far as the layers have sources.
function(costmodel_link_layers target)
  foreach(layer IN LISTS ARGN)
    if(TARGET layer_${layer})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:layer_${layer}>)
      target_link_libraries(${target} PRIVATE ${foreign_${layer}})
    endif()
    if(layer STREQUAL frontend AND TARGET layer_frontend)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:layer_proto>)
      target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/proto)
    endif()
  endforeach()
endfunction()
