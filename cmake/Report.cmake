# SPDX-License-Identifier: Apache-2.0
# Embeds the styles, the scripts and d3 in the program, for the pages of report/html/.
set(html_styles report/html/palette.css report/html/report.css)
# The scripts of every page, in this order; then the additional ones of pages of diff, and of several
# profiles.
set(html_scripts format data parts state widgets search drawer ladder overview modules dataflow operators kernels timeline
  measured memory training roofline main)
set(html_scripts_of_diff review diff)
set(html_scripts_of_sweep sweep variants campaign)

# d3 5 of Debian's node-d3; without it the program writes no pages (cm_html_check).
find_file(COSTMODEL_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH
  DOC "d3.min.js of d3 5, for --format html")
set(html_d3 "")
if(COSTMODEL_D3)
  file(READ ${COSTMODEL_D3} head LIMIT 64)
  if(head MATCHES "d3js.org v5\\.")
    set(html_d3 ${COSTMODEL_D3})
  else()
    message(WARNING "${COSTMODEL_D3} is not d3 5: --format html is not available")
  endif()
endif()

list(TRANSFORM html_styles PREPEND ${PROJECT_SOURCE_DIR}/)
foreach(scripts html_scripts html_scripts_of_diff html_scripts_of_sweep)
  list(TRANSFORM ${scripts} REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/report/html/\\1.js")
endforeach()
set(html_license ${PROJECT_SOURCE_DIR}/report/html/d3-license.txt)
set(html_folder ${PROJECT_BINARY_DIR}/html)
set(html_assets ${html_folder}/html_assets.c)
file(MAKE_DIRECTORY ${html_folder})
add_custom_command(
  OUTPUT ${html_assets}
  COMMAND ${CMAKE_COMMAND} "-DSTYLES=${html_styles}" "-DSCRIPTS=${html_scripts}"
    "-DDIFF=${html_scripts_of_diff}" "-DSWEEP=${html_scripts_of_sweep}" "-DD3=${html_d3}" "-DLICENSE=${html_license}" -DOUTPUT=${html_assets} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake
  DEPENDS ${html_styles} ${html_scripts} ${html_scripts_of_diff} ${html_scripts_of_sweep} ${html_d3} ${html_license}
    ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake
  VERBATIM)
target_sources(layer_report_html PRIVATE ${html_assets})
if(html_d3)
  install(FILES ${html_license} DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel COMPONENT runtime)
endif()
