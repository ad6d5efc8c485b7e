# SPDX-License-Identifier: Apache-2.0
# The CUDA backend, a module. Building requires NVIDIA's headers, running requires the libraries
# (backends/cuda/library.h), so that one build serves machines with and without a GPU.
set(COSTMODEL_CUDA AUTO CACHE STRING "The CUDA backend: AUTO (if its headers are here), ON, OFF")
set_property(CACHE COSTMODEL_CUDA PROPERTY STRINGS AUTO ON OFF)

if(COSTMODEL_CUDA STREQUAL "OFF")
  return()
endif()

# Not by FindCUDAToolkit, which requires nvcc. The newest toolkit is searched first.
file(GLOB cuda_folders /usr/local/cuda-*/include)
list(SORT cuda_folders COMPARE NATURAL ORDER DESCENDING)
list(PREPEND cuda_folders /usr/local/cuda/include)
set(cuda_hints $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include $ENV{CONDA_PREFIX}/include
  $ENV{CONDA_PREFIX}/targets/x86_64-linux/include)
set(cuda_missing "")
foreach(header cuda.h nvrtc.h cublasLt.h cudnn.h cudnn_graph.h)
  string(MAKE_C_IDENTIFIER "CUDA_INCLUDE_${header}" variable)
  string(TOUPPER ${variable} variable)
  find_path(${variable} ${header} DOC "The folder of ${header}"
    HINTS $ENV{CUDNN_PATH}/include ${cuda_hints} PATHS ${cuda_folders}
    PATH_SUFFIXES x86_64-linux-gnu aarch64-linux-gnu)
  mark_as_advanced(${variable})
  if(${variable})
    list(APPEND cuda_include ${${variable}})
  else()
    list(APPEND cuda_missing ${header})
  endif()
endforeach()
if(cuda_missing)
  list(JOIN cuda_missing ", " cuda_missing)
  if(NOT COSTMODEL_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "COSTMODEL_CUDA is ON, but these headers are not found: ${cuda_missing}. "
      "Set CUDA_HOME and CUDNN_PATH, or CMAKE_INCLUDE_PATH")
  endif()
  message(STATUS "CUDA backend skipped: ${cuda_missing} not found, set CUDA_HOME and CUDNN_PATH "
    "(docs/backends.md)")
  return()
endif()
list(REMOVE_DUPLICATES cuda_include)
set(COSTMODEL_CUDA_INCLUDE ${cuda_include})
message(STATUS "CUDA headers: ${cuda_include}")

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/backends/cuda/*.c
  ${PROJECT_SOURCE_DIR}/backends/cuda/cudnn/*.c ${PROJECT_SOURCE_DIR}/backends/cuda/jit/*.c)
# The helper functions of kernels, as bytes: ISO C guarantees only 4095 bytes in a string literal.
set(cuda_prelude ${PROJECT_SOURCE_DIR}/backends/cuda/jit/prelude.cu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cuda_prelude})
file(READ ${cuda_prelude} cuda_prelude_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," cuda_prelude_bytes "${cuda_prelude_bytes}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/backends/cuda/jit/prelude.c @ONLY CONTENT
  "#include \"backends/cuda/jit/jit.h\"\nconst char jit_prelude[] = {@cuda_prelude_bytes@0};\n")
list(APPEND cuda_sources ${PROJECT_BINARY_DIR}/backends/cuda/jit/prelude.c)
list(APPEND cuda_sources ${PROJECT_SOURCE_DIR}/backends/coalesce_dims.c
  ${PROJECT_SOURCE_DIR}/backends/primitive_size.c ${PROJECT_SOURCE_DIR}/support/sort.c)
add_library(costmodel_cuda MODULE ${cuda_sources})
target_include_directories(costmodel_cuda PRIVATE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_include_directories(costmodel_cuda SYSTEM PRIVATE ${cuda_include})
target_compile_definitions(costmodel_cuda PRIVATE _GNU_SOURCE) # for dladdr, which is not in POSIX
target_link_libraries(costmodel_cuda PRIVATE m ${CMAKE_DL_LIBS})
set_target_properties(costmodel_cuda PROPERTIES
  PREFIX "" OUTPUT_NAME costmodel-cuda SUFFIX .so
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/backends)
install(TARGETS costmodel_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/costmodel
  COMPONENT runtime)

# The stub driver, with which cuDNN makes plans without a GPU. It is loaded under the name
# libcuda.so.1.
add_library(costmodel_planning MODULE ${PROJECT_SOURCE_DIR}/backends/cuda/planning/driver.c)
target_include_directories(costmodel_planning PRIVATE ${PROJECT_SOURCE_DIR})
set_target_properties(costmodel_planning PROPERTIES
  PREFIX "" OUTPUT_NAME libcostmodel-planning SUFFIX .so C_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/backends)
target_link_options(costmodel_planning PRIVATE -Wl,-soname,libcuda.so.1)
add_dependencies(costmodel_cuda costmodel_planning)
install(TARGETS costmodel_planning LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/costmodel
  COMPONENT runtime)
