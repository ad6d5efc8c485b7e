/* SPDX-License-Identifier: Apache-2.0 */
/* Huge pages. */
#ifndef BACKENDS_ONEDNN_PAGES_H
#define BACKENDS_ONEDNN_PAGES_H

#include <stddef.h>

#define PAGES_HUGE ((size_t)2 << 20)

/* Requests pages of PAGES_HUGE, to which `block` is aligned; the system may refuse. */
void pages_ask_huge(void *block, size_t bytes);

#endif
