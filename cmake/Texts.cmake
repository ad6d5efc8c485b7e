# SPDX-License-Identifier: Apache-2.0
# embed_texts(OUTPUT HEADER TABLE FILE...): generates a C file with the table of the names and texts of files;
# TABLE is "struct x texts", which HEADER declares.
function(embed_texts output header table)
  get_filename_component(folder ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUTPUT=${output} -DHEADER=${header} "-DTABLE=${table}" -P ${script}
    DEPENDS ${ARGN} ${script}
    VERBATIM)
endfunction()
