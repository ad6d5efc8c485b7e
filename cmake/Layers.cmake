# SPDX-License-Identifier: Apache-2.0
# One OBJECT library per source folder, from cmake/layers.txt: all .c files of the folder
# (docs/decisions/sources-by-glob.md).

# Not for foreign sources, which are targets already.
add_compile_options("SHELL:-include ${PROJECT_SOURCE_DIR}/support/banned.h")

find_program(PROTOC_C protoc-c REQUIRED)
set(proto_dir ${PROJECT_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${proto_dir})
add_custom_command(
  OUTPUT ${proto_dir}/onnx.pb-c.c ${proto_dir}/onnx.pb-c.h
  COMMAND ${PROTOC_C} --c_out=${proto_dir} --proto_path=${PROJECT_SOURCE_DIR}/frontend/wire onnx.proto
  DEPENDS ${PROJECT_SOURCE_DIR}/frontend/wire/onnx.proto
  VERBATIM)
add_library(layer_proto OBJECT ${proto_dir}/onnx.pb-c.c)
target_include_directories(layer_proto SYSTEM PUBLIC ${proto_dir})
target_link_libraries(layer_proto PUBLIC PkgConfig::PROTOBUF_C)
target_compile_options(layer_proto PRIVATE -w)

# The external libraries that a folder links; costmodel.pc.in and costmodelConfig.cmake.in repeat
# them for users of the static library.
set(external_frontend PkgConfig::PROTOBUF_C)
set(external_frontend/wire PkgConfig::PROTOBUF_C)
set(external_backends m ${CMAKE_DL_LIBS})
set(external_ops m)
set(external_support/json PkgConfig::CJSON)
if(TARGET foreign_REGEX)
  set(external_passes/modules foreign_REGEX)
endif()

# The folders of the system (docs/platforms.md). Only POSIX has processes and modules that measure.
set(systems posix windows wasi)
if(WIN32)
  set(system windows)
elseif(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  set(system wasi)
else()
  set(system posix)
endif()
list(REMOVE_ITEM systems ${system})
list(JOIN systems "|" other_systems)
set(excluded "cli" "support/(${other_systems})")
if(WIN32)
  list(APPEND excluded "support/unix")
endif()
if(system STREQUAL "posix")
  list(APPEND excluded "support/absent" "api/campaign/serial" "backends/unmeasured")
else()
  list(APPEND excluded "backends/(process|cache)")
  set(excluded_files "/api/campaign/workers.c|/backends/plugin/loader.c")
endif()
# Folders built by Cuda.cmake, Onednn.cmake and Library.cmake, and those of the other setting of
# COSTMODEL_TIMING.
if(COSTMODEL_TIMING)
  list(APPEND excluded "backends/(cuda|onednn)" "api/untimed")
else()
  list(APPEND excluded "backends" "timing" "api/timing")
endif()
list(JOIN excluded "|" excluded)
set(not_in_library "^(${excluded})(/|$)")

file(STRINGS cmake/layers.txt rows REGEX "^[a-z/]+ ") # not the rows of single files
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/layers.txt)
set(COSTMODEL_FOLDERS "") # all folders of the library
foreach(row IN LISTS rows)
  string(REGEX MATCH "^([a-z/]+) *\\|([^|]*)" unused "${row}")
  set(folder ${CMAKE_MATCH_1})
  separate_arguments(uses_${folder} UNIX_COMMAND "${CMAKE_MATCH_2}")
  if(folder MATCHES "${not_in_library}")
    continue()
  endif()
  list(APPEND COSTMODEL_FOLDERS ${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c)
  if(excluded_files)
    list(FILTER sources EXCLUDE REGEX "(${excluded_files})$")
  endif()
  if(sources)
    string(REPLACE / _ target layer_${folder})
    add_library(${target} OBJECT ${sources})
    target_include_directories(${target} PUBLIC
      ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} PUBLIC ${external_${folder}})
  endif()
endforeach()
foreach(target IN ITEMS layer_frontend layer_frontend_wire)
  target_link_libraries(${target} PUBLIC layer_proto)
endforeach()

# For O_TMPFILE, O_PATH, syscall and sched_getaffinity, which are not in POSIX.
set_property(SOURCE ${PROJECT_SOURCE_DIR}/support/posix/output.c ${PROJECT_SOURCE_DIR}/support/posix/beneath.c
  ${PROJECT_SOURCE_DIR}/api/campaign/workers.c
  APPEND PROPERTY COMPILE_DEFINITIONS _GNU_SOURCE)

# Search paths of modules: relative to the program's folder, and the installed folder, which a
# relocatable build does not have.
file(RELATIVE_PATH backend_folder ${CMAKE_INSTALL_FULL_BINDIR}/..
  ${CMAKE_INSTALL_FULL_LIBDIR}/costmodel)
if(COSTMODEL_TIMING)
  target_compile_definitions(layer_backends_plugin PRIVATE
    COSTMODEL_BACKEND_FOLDER="${backend_folder}"
    $<$<NOT:$<BOOL:${COSTMODEL_STATIC}>>:COSTMODEL_BACKEND_INSTALLED="${CMAKE_INSTALL_FULL_LIBDIR}/costmodel">)
endif()

# Sets `ret` to the given folders and all folders of the library that they include, transitively.
function(costmodel_closure ret)
  set(closure "")
  set(pending ${ARGN})
  while(pending)
    list(POP_FRONT pending folder)
    if(folder MATCHES "^(.*)/\\*$")
      set(wanted ${COSTMODEL_FOLDERS})
      list(FILTER wanted INCLUDE REGEX "^${CMAKE_MATCH_1}(/|$)")
      list(APPEND pending ${wanted})
    elseif(folder IN_LIST COSTMODEL_FOLDERS AND NOT folder IN_LIST closure)
      list(APPEND closure ${folder})
      list(APPEND pending ${uses_${folder}})
    endif()
  endwhile()
  set(${ret} ${closure} PARENT_SCOPE)
endfunction()

# Links the objects and external libraries of the given folders, not of the folders they include.
function(costmodel_link_folders target)
  foreach(folder IN LISTS ARGN)
    string(REPLACE / _ layer layer_${folder})
    if(TARGET ${layer})
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${layer}>)
      target_link_libraries(${target} PRIVATE ${external_${folder}})
    endif()
    if(folder STREQUAL frontend)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:layer_proto>)
      target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/proto)
    endif()
  endforeach()
endfunction()
