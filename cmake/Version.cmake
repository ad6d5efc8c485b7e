# SPDX-License-Identifier: Apache-2.0
# cm_version(), in a file that each build writes anew if tools/version prints something else. Only the libraries
# link it: the tests have a version of their own (tests/version.c), so that a commit links few programs again.
if(CMAKE_SCRIPT_MODE_FILE) # cmake -DSOURCE=folder -DDEFAULT=version -DOUTPUT=file.c -P Version.cmake
  cmake_policy(VERSION 3.25)
  execute_process(COMMAND sh ${SOURCE}/tools/version
    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(version ${DEFAULT})
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "/* Made by cmake/Version.cmake. */
#include \"costmodel/costmodel.h\"

const char *cm_version(void) {
    return \"@version@\";
}
" @ONLY)
  return()
endif()

set(version_file ${PROJECT_BINARY_DIR}/version.c)
add_custom_target(costmodel_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DDEFAULT=${PROJECT_VERSION}
    -DOUTPUT=${version_file} -P ${CMAKE_CURRENT_LIST_FILE}
  BYPRODUCTS ${version_file} COMMENT "Version of the sources" VERBATIM)
add_library(version OBJECT ${version_file})
add_dependencies(version costmodel_version)
target_include_directories(version PRIVATE ${PROJECT_SOURCE_DIR}/include)
