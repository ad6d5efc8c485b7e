# SPDX-License-Identifier: Apache-2.0
# Embeds devices/*.json in the program, and installs them as examples.
file(GLOB device_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/devices/*.json)
list(SORT device_files COMPARE NATURAL)
set(device_table ${PROJECT_BINARY_DIR}/devices/device_texts.c)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/devices)
add_custom_command(
  OUTPUT ${device_table}
  COMMAND ${CMAKE_COMMAND} "-DFILES=${device_files}" -DOUTPUT=${device_table}
    -DHEADER=backends/device/devices.h "-DTABLE=struct device_text device_texts"
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake
  DEPENDS ${device_files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake
  VERBATIM)
target_sources(layer_backends_device PRIVATE ${device_table})
install(FILES ${device_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel/devices COMPONENT runtime)
