/* SPDX-License-Identifier: Apache-2.0 */
/* See interrupt.h: nothing is measured here, so Ctrl-C ends the program. */
#include "support/interrupt.h"

#include <stddef.h>

struct interrupt {
    int stop;
};

struct interrupt *interrupt_begin(bool has_reader) {
    (void)has_reader;
    return NULL;
}

const int *interrupt_descriptor(const struct interrupt *interrupt) {
    return &interrupt->stop;
}

bool interrupt_is_pending(const struct interrupt *interrupt) {
    (void)interrupt;
    return false;
}

bool interrupt_end(struct interrupt *interrupt) {
    (void)interrupt;
    return false;
}
