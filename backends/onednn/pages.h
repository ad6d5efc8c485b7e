/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a block of memory. */
#ifndef BACKENDS_ONEDNN_PAGES_H
#define BACKENDS_ONEDNN_PAGES_H

#include <stddef.h>

#define PAGES_HUGE ((size_t)2 << 20)

/* Asks for pages of PAGES_HUGE, to which `block` is aligned; a system may refuse. */
void pages_ask_huge(void *block, size_t bytes);

#endif
