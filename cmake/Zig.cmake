# SPDX-License-Identifier: Apache-2.0
# Toolchain file: compiles for another system with zig, which PyPI has as `ziglang` and which brings the headers
# and libraries of every system (docs/platforms.md):
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=cmake/Zig.cmake -DCOSTMODEL_ZIG=…/ziglang/zig -DCOSTMODEL_TARGET=aarch64-linux-musl
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES COSTMODEL_ZIG COSTMODEL_TARGET)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}) # Platform/WASI.cmake

string(REGEX MATCH "^([a-z0-9_]+)-([a-z]+)" unused "${COSTMODEL_TARGET}")
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(systems_linux Linux)
set(systems_macos Darwin)
set(systems_windows Windows)
set(systems_wasi WASI)
set(CMAKE_SYSTEM_NAME ${systems_${CMAKE_MATCH_2}})
if(NOT CMAKE_SYSTEM_NAME)
  message(FATAL_ERROR "COSTMODEL_TARGET must be a target of zig, such as aarch64-linux-musl, got '${COSTMODEL_TARGET}'")
endif()

set(CMAKE_C_COMPILER ${COSTMODEL_ZIG} cc -target ${COSTMODEL_TARGET})
# CMake calls these by one name.
foreach(tool IN ITEMS ar ranlib rc)
  set(script ${CMAKE_BINARY_DIR}/zig-${tool})
  if(NOT EXISTS ${script})
    file(WRITE ${script} "#!/bin/sh\nexec '${COSTMODEL_ZIG}' ${tool} \"$@\"\n")
    file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
endforeach()
set(CMAKE_AR ${CMAKE_BINARY_DIR}/zig-ar)
set(CMAKE_RANLIB ${CMAKE_BINARY_DIR}/zig-ranlib)
set(CMAKE_RC_COMPILER ${CMAKE_BINARY_DIR}/zig-rc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
