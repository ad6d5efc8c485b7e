# SPDX-License-Identifier: Apache-2.0
# Installs the program, both libraries, the public headers, costmodel.pc and a CMake package with
# the targets costmodel::costmodel and costmodel::costmodel_static.
include(CMakePackageConfigHelpers)

# Builds what `cmake --install` installs, without the tests.
add_custom_target(costmodel_installed DEPENDS costmodel_program)
foreach(target IN ITEMS costmodel costmodel_static costmodel_onednn costmodel_cuda
    costmodel_planning costmodel_manual)
  if(TARGET ${target})
    add_dependencies(costmodel_installed ${target})
  endif()
endforeach()

# The static library of a static build contains protobuf-c and cJSON.
set(pc_requires_private "")
if(NOT COSTMODEL_STATIC)
  set(pc_requires_private "libprotobuf-c libcjson")
endif()
# The prefix is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/costmodel.pc.in ${PROJECT_BINARY_DIR}/costmodel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/costmodel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY include/costmodel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(TARGETS costmodel_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(COSTMODEL_STATIC) # a relocatable tree: the program, its modules, the library, the device files
  install(TARGETS costmodel_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES LICENSE docs/static.md DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel)
  install(PROGRAMS tools/gpu_check tools/gpu_torch.py DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel)
  install(FILES tools/make_models.py DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel)
  install(FILES models/pointnet_b32.onnx models/resnet50.onnx models/lstm.onnx
    DESTINATION ${CMAKE_INSTALL_DATADIR}/costmodel/models)
  string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" platform)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_FILE_NAME costmodel-${PROJECT_VERSION}-${platform})
  set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_STRIP_FILES ON)
  include(CPack)
  return()
endif()
install(TARGETS costmodel costmodel_static EXPORT costmodel
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/costmodel)
install(EXPORT costmodel NAMESPACE costmodel:: FILE costmodelTargets.cmake
  DESTINATION ${package_dir})

configure_package_config_file(cmake/costmodelConfig.cmake.in
  ${PROJECT_BINARY_DIR}/costmodelConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/costmodelConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/costmodelConfig.cmake
  ${PROJECT_BINARY_DIR}/costmodelConfigVersion.cmake cmake/CostmodelCheck.cmake
  DESTINATION ${package_dir})
