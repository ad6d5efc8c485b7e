# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=a.json;b.json -DOUTPUT=texts.c -DHEADER=x.h "-DTABLE=struct x texts" -P EmbedTexts.cmake:
# writes the names and texts of the files as a table, whose struct is in the header; as byte arrays,
# because ISO C guarantees only 4095 bytes in a string literal.
set(arrays "")
set(rows "")
set(n 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "static const char text_${n}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", text_${n}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUTPUT}.new "/* Made by cmake/EmbedTexts.cmake. */
#include \"${HEADER}\"

${arrays}
const ${TABLE}[] = {
${rows}    {NULL, NULL},
};
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
