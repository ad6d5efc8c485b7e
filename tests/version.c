/* SPDX-License-Identifier: Apache-2.0 */
/* The version in the goldens of the tests, instead of that of the commit (cmake/Version.cmake).
 */
#include "costmodel/costmodel.h"

const char *cm_version(void) {
    return "0.1.0";
}
