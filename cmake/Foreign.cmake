# SPDX-License-Identifier: Apache-2.0
# protobuf-c and cJSON: installed libraries, or with COSTMODEL_STATIC built from source and linked
# into the program (docs/static.md), under the same target names.
set(COSTMODEL_STATIC OFF CACHE STRING
  "One program without foreign libraries: OFF, ON (libc alone, with modules), FULL (no modules)")
set_property(CACHE COSTMODEL_STATIC PROPERTY STRINGS OFF ON FULL)
set(COSTMODEL_FOREIGN_SOURCES ${PROJECT_SOURCE_DIR}/build/foreign CACHE PATH
  "The folder with cjson/ and protobuf-c/ of tools/foreign_sources, for COSTMODEL_STATIC")

find_package(PkgConfig REQUIRED)
if(NOT COSTMODEL_STATIC)
  pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
  pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
  return()
endif()

if(NOT EXISTS ${COSTMODEL_FOREIGN_SOURCES})
  message(STATUS "Downloading the sources of protobuf-c and cJSON: tools/foreign_sources")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/foreign_sources ${COSTMODEL_FOREIGN_SOURCES})
endif()

function(costmodel_foreign target includes source)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "COSTMODEL_STATIC requires ${source}: run tools/foreign_sources, "
      "or set COSTMODEL_FOREIGN_SOURCES")
  endif()
  add_library(foreign_${target} STATIC ${source})
  target_include_directories(foreign_${target} SYSTEM PUBLIC ${includes})
  target_compile_options(foreign_${target} PRIVATE -w)
  add_library(PkgConfig::${target} ALIAS foreign_${target})
endfunction()
costmodel_foreign(CJSON ${COSTMODEL_FOREIGN_SOURCES} ${COSTMODEL_FOREIGN_SOURCES}/cjson/cJSON.c)
costmodel_foreign(PROTOBUF_C ${COSTMODEL_FOREIGN_SOURCES}/protobuf-c
  ${COSTMODEL_FOREIGN_SOURCES}/protobuf-c/protobuf-c/protobuf-c.c)

if(COSTMODEL_STATIC STREQUAL "FULL") # a static program cannot load modules
  set(COSTMODEL_ONEDNN OFF)
  set(COSTMODEL_CUDA OFF)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options(-static)
  endif()
else()
  add_link_options(-static-libgcc)
endif()

# Windows has no regular expressions of POSIX: those of musl, which zig brings.
if(WIN32)
  set(shims ${PROJECT_BINARY_DIR}/regex)
  get_filename_component(zig_folder ${COSTMODEL_ZIG} DIRECTORY)
  set(musl ${zig_folder}/lib/libc/musl)
  file(COPY ${musl}/include/regex.h DESTINATION ${shims})
  # Headers that only musl has.
  file(WRITE ${shims}/features.h "#define hidden\n")
  file(WRITE ${shims}/bits/alltypes.h "#include <stddef.h>\ntypedef ptrdiff_t regoff_t;\n")
  file(WRITE ${shims}/locale_impl.h "#define LCTRANS_CUR(text) (text)\n")
  add_library(foreign_REGEX STATIC ${musl}/src/regex/regcomp.c ${musl}/src/regex/regexec.c
    ${musl}/src/regex/regerror.c ${musl}/src/regex/tre-mem.c)
  target_include_directories(foreign_REGEX SYSTEM PUBLIC ${shims})
  target_compile_options(foreign_REGEX PRIVATE -w)
  target_compile_definitions(foreign_REGEX PRIVATE CHARCLASS_NAME_MAX=14 RE_DUP_MAX=255)
endif()
