# SPDX-License-Identifier: Apache-2.0
# costmodel_check(<target> MODEL <file> [BASELINE <file>] [BUDGET <file>] [LIMITS <limit>...]
#                 [OPTIONS <option>...])
#
# A target and a test of that name that fail when the model costs more than it may, and with a
# baseline a target <target>-accept that takes what it costs now for the baseline; its reason is
# the environment's COSTMODEL_REASON. Relative paths are from the current source folder. The
# program is COSTMODEL_PROGRAM, or the one that is found.
function(costmodel_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;BASELINE;BUDGET" "LIMITS;OPTIONS")
  if(NOT arg_MODEL OR NOT (arg_BASELINE OR arg_BUDGET OR arg_LIMITS))
    message(FATAL_ERROR "costmodel_check(${target}) wants a MODEL, and a BASELINE, a BUDGET or LIMITS")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "costmodel_check(${target}) does not know ${arg_UNPARSED_ARGUMENTS}")
  endif()
  find_program(COSTMODEL_PROGRAM costmodel REQUIRED)
  set(command ${COSTMODEL_PROGRAM} check ${arg_MODEL})
  if(arg_BASELINE)
    list(APPEND command --baseline ${arg_BASELINE})
  endif()
  if(arg_BUDGET)
    list(APPEND command --budget ${arg_BUDGET})
  endif()
  foreach(limit IN LISTS arg_LIMITS)
    list(APPEND command --limit ${limit})
  endforeach()
  list(APPEND command ${arg_OPTIONS})

  add_custom_target(${target} COMMAND ${command}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} VERBATIM)
  add_test(NAME ${target} COMMAND ${command} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(arg_BASELINE)
    add_custom_target(${target}-accept
      COMMAND sh -c "exec \"$@\" \${COSTMODEL_REASON:+--reason \"$COSTMODEL_REASON\"}" sh
        ${command} --update-baseline
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} VERBATIM)
  endif()
endfunction()
