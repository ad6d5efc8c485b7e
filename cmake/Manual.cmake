# SPDX-License-Identifier: Apache-2.0
# The manual pages and the completions, which the program prints from its option tables. Without lowdown and
# Python there is one page, costmodel(1).
if(CMAKE_CROSSCOMPILING)
  return()
endif()

set(manual_files "")
function(costmodel_printed file destination)
  set(path ${PROJECT_BINARY_DIR}/manual/${file})
  add_custom_command(OUTPUT ${path}
    COMMAND costmodel_program ${ARGN} > ${path}
    DEPENDS costmodel_program VERBATIM)
  install(FILES ${path} DESTINATION ${destination})
  set(manual_files ${manual_files} ${path} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/manual/bash)
find_program(LOWDOWN lowdown DOC "Converts the pages of docs/ to manual pages")
find_package(Python3 COMPONENTS Interpreter QUIET)
mark_as_advanced(LOWDOWN)
if(LOWDOWN AND Python3_FOUND)
  set(pages ${PROJECT_BINARY_DIR}/manual/man)
  file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/costmodel/*.h)
  add_custom_command(OUTPUT ${pages}/man1/costmodel.1
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/man
      --costmodel $<TARGET_FILE:costmodel_program> --out ${pages}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/api_reference --man ${pages}/man3
    DEPENDS costmodel_program ${PROJECT_SOURCE_DIR}/tools/man ${PROJECT_SOURCE_DIR}/tools/api_reference
      ${documents} ${headers} VERBATIM)
  list(APPEND manual_files ${pages}/man1/costmodel.1)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
else()
  message(STATUS "Manual pages of commands, formats and the library skipped: they require lowdown and python3")
  costmodel_printed(costmodel.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
endif()
costmodel_printed(bash/costmodel ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
costmodel_printed(_costmodel ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
costmodel_printed(costmodel.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
add_custom_target(costmodel_manual ALL DEPENDS ${manual_files})
