/* SPDX-License-Identifier: Apache-2.0 */
/* The fake backend: linked by tests of backends, a module for all others. */
#pragma once

#include "costmodel/backend.h"

extern const struct cm_backend fake_backend;
