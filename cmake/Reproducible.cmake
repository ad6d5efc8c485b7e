# SPDX-License-Identifier: Apache-2.0
# Release builds contain no path of the build machine, so that builds in different folders are equal. __FILE__ is
# relative to the source folder, that of a generated file to the build folder. ccache with a base folder passes
# paths that are relative to the build folder. Other builds keep the paths, which debuggers need.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$")
  file(RELATIVE_PATH source_folder ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  foreach(folder ${source_folder} ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}) # the last that matches is used
    string(REGEX REPLACE "([^/])$" "\\1/" map "${folder}")
    add_compile_options("-ffile-prefix-map=${map}=")
  endforeach()
endif()
