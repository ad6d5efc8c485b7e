# SPDX-License-Identifier: Apache-2.0
# The manual page and the completions, which the program prints from its option tables.
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
costmodel_printed(costmodel.1 ${CMAKE_INSTALL_MANDIR}/man1 man)
costmodel_printed(bash/costmodel ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
costmodel_printed(_costmodel ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
costmodel_printed(costmodel.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
add_custom_target(costmodel_manual ALL DEPENDS ${manual_files})
