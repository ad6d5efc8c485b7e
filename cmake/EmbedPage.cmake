# SPDX-License-Identifier: Apache-2.0
# cmake -DSTYLES=a.css;b.css -DSCRIPTS=a.js;b.js -DDIFF=c.js -DSWEEP=d.js -DD3=d3.min.js
# -DLICENSE=file -DOUTPUT=assets.c -P EmbedPage.cmake: writes the styles and scripts of HTML pages as
# byte arrays (ISO C guarantees only 4095 bytes in a string literal), and their hashes for the
# Content-Security-Policy. D3 may be empty.

# Sets `ret` to the base64 of 32 bytes that are given as 64 hexadecimal digits.
function(base64 hex ret)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  foreach(i RANGE 0 60 6) # 3 bytes are 4 digits; the 33rd byte is padding
    string(SUBSTRING "${hex}00" ${i} 6 group)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${digit} 1 digit)
      string(APPEND text ${digit})
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" text "${text}")
  set(${ret} "${text}" PARENT_SCOPE)
endfunction()

# Removes comments on lines of their own, indentation, and spaces beside punctuation: a quarter of the
# bytes. This is safe because our statements end in semicolons, and report/html/.eslintrc.json forbids
# strings that would be changed.
function(strip file tag)
  file(READ ${file} text)
  string(REGEX REPLACE "\n */\\*([^*]|\\*[^/])*\\*/" "" text "\n${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
  string(REGEX REPLACE "([,;{(?:&|])\n" "\\1" text "${text}")
  string(REGEX REPLACE "\n([]}.)?:&|])" "\\1" text "${text}")
  if(tag STREQUAL style)
    string(REGEX REPLACE " *([:;{},]) +" "\\1" text "${text}")
  else()
    string(REGEX REPLACE " (=>|[=!]==|[<>]=|[=<>*/?:]|&&|\\|\\|) " "\\1" text "${text}")
    string(REPLACE ") {" "){" text "${text}")
    string(REGEX REPLACE "(for|if) \\(" "\\1(" text "${text}")
    string(REGEX REPLACE "([\n(;{}])const " "\\1let " text "${text}")
  endif()
  file(WRITE ${file} "${text}")
endfunction()

# Concatenates the files as the content of an element `tag`: appends its array to `arrays` and sets
# NAME_hash. d3 is embedded as it is.
function(embed name tag)
  set(joined ${OUTPUT}.${name})
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${ARGN} OUTPUT_FILE ${joined}
    COMMAND_ERROR_IS_FATAL ANY)
  if(NOT "${name}" STREQUAL "d3")
    strip(${joined} ${tag})
  endif()
  file(READ ${joined} text)
  string(TOLOWER "${text}" text)
  foreach(end "</${tag}" "<!--")
    string(FIND "${text}" "${end}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${ARGN}: '${end}' would end the ${tag} element of the page")
    endif()
  endforeach()
  file(SHA256 ${joined} hash)
  base64(${hash} hash)
  file(READ ${joined} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(arrays "${arrays}static const unsigned char ${name}[] = {${bytes}0};\n" PARENT_SCOPE)
  set(${name}_hash "'sha256-${hash}'" PARENT_SCOPE)
endfunction()

set(arrays "")
embed(style style ${STYLES})
embed(script script ${SCRIPTS})
embed(diff script ${DIFF})
embed(sweep script ${SWEEP})
set(d3 NULL)
if(D3)
  embed(d3 script ${D3})
  set(d3 "(const char *)d3")
endif()
file(READ ${LICENSE} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(APPEND arrays "static const unsigned char license[] = {${bytes}0};\n")

file(WRITE ${OUTPUT}.new "/* Made from report/html/ and d3 by cmake/EmbedPage.cmake. */
#include \"report/html/html_assets.h\"

#include <stddef.h>

${arrays}
const struct html_assets html_assets = {
    .style = {(const char *)style, \"${style_hash}\"},
    .d3 = {${d3}, \"${d3_hash}\"},
    .d3_license = (const char *)license,
    .script = {(const char *)script, \"${script_hash}\"},
    .diff_script = {(const char *)diff, \"${diff_hash}\"},
    .sweep_script = {(const char *)sweep, \"${sweep_hash}\"},
};
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
