# SPDX-License-Identifier: Apache-2.0
# costmodel_check(<target> MODEL <file> [BASELINE <file>] [BUDGET <file>] [LIMITS <limit>...]
#                 [OPTIONS <option>...])
#
# Adds a target and a test of that name that fail on a cost regression. With a BASELINE, adds a
# target <target>-accept that updates the baseline, with the reason given in the environment variable
# COSTMODEL_REASON. Paths are relative to the current source folder. COSTMODEL_PROGRAM sets the
# program; default: the costmodel found in PATH.
function(costmodel_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;BASELINE;BUDGET" "LIMITS;OPTIONS")
  if(NOT arg_MODEL OR NOT (arg_BASELINE OR arg_BUDGET OR arg_LIMITS))
    message(FATAL_ERROR "costmodel_check(${target}) requires a MODEL, and a BASELINE, a BUDGET or LIMITS")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "costmodel_check(${target}) got unknown arguments ${arg_UNPARSED_ARGUMENTS}")
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
