# SPDX-License-Identifier: Apache-2.0
# COSTMODEL_SANITIZE=address,undefined: the first finding aborts the program, so that the test fails.
if(COSTMODEL_SANITIZE)
  add_compile_options(-fsanitize=${COSTMODEL_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${COSTMODEL_SANITIZE})
endif()
