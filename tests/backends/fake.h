/* SPDX-License-Identifier: Apache-2.0 */
/* The fake backend: linked by tests of backends, a module for all others. */
#ifndef TESTS_BACKENDS_FAKE_H
#define TESTS_BACKENDS_FAKE_H

#include "costmodel/backend.h"

extern const struct cm_backend fake_backend;

#endif
