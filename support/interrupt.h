/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C that ends a measurement instead of the program. */
#pragma once

#include <stdbool.h>

struct interrupt; /* opaque */

/* Catches Ctrl-C, unless it is ignored, and a closed pipe; with `has_reader` also the end of
 * the program that reads standard output. Returns NULL if the system cannot: then Ctrl-C ends
 * the program. */
struct interrupt *interrupt_begin(bool has_reader);
/* Returns a descriptor that is readable once there was an interrupt. */
const int *interrupt_descriptor(const struct interrupt *interrupt);
bool interrupt_is_pending(const struct interrupt *interrupt);
/* Restores the signals. Returns true if there was an interrupt. Accepts NULL. */
bool interrupt_end(struct interrupt *interrupt);
