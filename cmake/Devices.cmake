# SPDX-License-Identifier: Apache-2.0
# Embeds devices/*.json in the program, and installs them as examples.
file(GLOB device_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/devices/*.json)
list(SORT device_files COMPARE NATURAL)
set(device_table ${PROJECT_BINARY_DIR}/devices/device_texts.c)
embed_texts(${device_table} backends/device/devices.h "struct device_text device_texts" ${device_files})
target_sources(layer_backends_device PRIVATE ${device_table})
install(FILES ${device_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel/devices COMPONENT runtime)
