# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=a.json;b.json -DOUTPUT=devices.c -P EmbedDevices.cmake: writes the files as a
# table of byte arrays, because ISO C guarantees only 4095 bytes in a string literal.
set(arrays "")
set(rows "")
set(n 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const char text_${n}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text_${n}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUTPUT}.new "/* Made from devices/ by cmake/EmbedDevices.cmake. */
#include \"backends/device/devices.h\"

${arrays}
const struct device_text device_texts[] = {
${rows}    {NULL, NULL},
};
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
