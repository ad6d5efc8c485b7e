# SPDX-License-Identifier: Apache-2.0
# Compile options of all files except generated code (cmake/Layers.cmake).
add_compile_definitions(_POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700 _FILE_OFFSET_BITS=64)
if(APPLE) # flock, O_NOFOLLOW and others
  add_compile_definitions(_DARWIN_C_SOURCE)
endif()
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wcast-qual -Wvla
  -Wmissing-prototypes -Wwrite-strings -Wundef -Wformat=2)
if(COSTMODEL_WERROR)
  add_compile_options(-Werror)
endif()
if(COSTMODEL_DEBUG_ARENA)
  add_compile_definitions(COSTMODEL_DEBUG_ARENA)
endif()
