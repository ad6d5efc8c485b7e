# SPDX-License-Identifier: Apache-2.0
# cmake -DSTYLES=a.css;b.css -DSCRIPTS=a.js;b.js -DDIFF=c.js -DSWEEP=d.js -DD3=d3.min.js
# -DLICENSE=file -DOUTPUT=assets.c -P EmbedPage.cmake: writes the styles and scripts of HTML pages as
# byte arrays (ISO C guarantees only 4095 bytes in a string literal), and their hashes for the
# Content-Security-Policy. d3 is compressed (main.js runs it), which saves half the bytes of a small page; its hash is that
# of the unpacked script. D3 may be empty.
cmake_policy(VERSION 3.25)

# Sets `ret` to the base64, without padding, of bytes that are given as hexadecimal digits.
function(base64 hex ret)
  set(bits 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111)
  string(REPLACE 0 x text "${hex}") # because 0 and 1 are also digits of the bits
  string(REPLACE 1 y text "${text}")
  set(digits x y 2 3 4 5 6 7 8 9 a b c d e f)
  foreach(digit four IN ZIP_LISTS digits bits)
    string(REPLACE ${digit} ${four} text "${text}")
  endforeach()
  string(LENGTH "${text}" n)
  math(EXPR n "(6 - ${n} % 6) % 6")
  string(REPEAT 0 ${n} zeros)
  string(REGEX REPLACE "([01][01][01][01][01][01])" "\\1," text "${text}${zeros}")
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  foreach(i RANGE 63) # a group of six bits becomes a letter; only groups end with a comma
    set(group "")
    foreach(shift 5 4 3 2 1 0)
      math(EXPR bit "(${i} >> ${shift}) & 1")
      string(APPEND group ${bit})
    endforeach()
    string(SUBSTRING ${alphabet} ${i} 1 letter)
    string(REPLACE "${group}," "${letter}@" text "${text}")
  endforeach()
  string(REPLACE "@" "" text "${text}")
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
# NAME_hash. d3 is embedded as base64 of gzip, with a header of 10 bytes that has no time: builds are equal.
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
  if("${name}" STREQUAL "d3")
    file(ARCHIVE_CREATE OUTPUT ${joined}.gz PATHS ${joined} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
    file(READ ${joined}.gz bytes HEX)
    string(SUBSTRING ${bytes} 20 -1 bytes)
    base64(1f8b0800000000000203${bytes} text64)
    file(WRITE ${joined} "${text64}")
  endif()
  file(READ ${joined} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  set(arrays "${arrays}static const unsigned char ${name}[] = {${bytes}0};\n" PARENT_SCOPE)
  set(${name}_hash "'sha256-${hash}='" PARENT_SCOPE)
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
if(D3)
  file(STRINGS ${D3} first LIMIT_COUNT 1) # "// https://d3js.org v5.16.0 Copyright 2020 Mike Bostock"
  string(HEX "${first}\n" first)
  string(PREPEND bytes ${first})
endif()
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
