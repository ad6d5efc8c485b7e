# SPDX-License-Identifier: Apache-2.0
# Installs the scripts of completions, and embeds them in the program, which prints them.
set(shells ${PROJECT_SOURCE_DIR}/cli/shells/bash ${PROJECT_SOURCE_DIR}/cli/shells/zsh
  ${PROJECT_SOURCE_DIR}/cli/shells/fish)
set(completion_table ${PROJECT_BINARY_DIR}/completion_scripts.c)
embed_texts(${completion_table} cli/command.h "struct completion_script completion_scripts" ${shells})
target_sources(costmodel_program PRIVATE ${completion_table})
install(FILES cli/shells/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME costmodel)
install(FILES cli/shells/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _costmodel)
install(FILES cli/shells/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  RENAME costmodel.fish)
