# SPDX-License-Identifier: Apache-2.0
# The manual pages, which the program prints from its option tables. Without lowdown and Python there is one
# page, costmodel(1).
if(CMAKE_CROSSCOMPILING)
  return()
endif()

find_program(LOWDOWN lowdown DOC "Converts the pages of docs/ to manual pages")
find_package(Python3 COMPONENTS Interpreter QUIET)
mark_as_advanced(LOWDOWN)
if(LOWDOWN AND Python3_FOUND)
  set(pages ${PROJECT_BINARY_DIR}/manual/man)
  file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/costmodel/*.h)
  add_custom_command(OUTPUT ${pages}/man1/costmodel.1
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/man
      --costmodel $<TARGET_FILE:costmodel_program> --out ${pages}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/api_reference --man ${pages}/man3
    DEPENDS costmodel_program ${PROJECT_SOURCE_DIR}/tools/man ${PROJECT_SOURCE_DIR}/tools/api_reference
      ${documents} ${headers} VERBATIM)
  set(manual ${pages}/man1/costmodel.1)
  install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
else()
  message(STATUS "Manual pages of commands, formats and the library skipped: they require lowdown and python3")
  set(manual ${PROJECT_BINARY_DIR}/manual/costmodel.1)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/manual)
  add_custom_command(OUTPUT ${manual}
    COMMAND costmodel_program man > ${manual} DEPENDS costmodel_program VERBATIM)
  install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
add_custom_target(costmodel_manual ALL DEPENDS ${manual})
