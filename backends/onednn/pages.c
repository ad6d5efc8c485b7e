/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of 4 KiB a block gets differs from run to run, and with it which of its lines
 * share a set of the cache and how often addresses have to be looked up.
 */
#define _DEFAULT_SOURCE  /* madvise; the name is libc's: NOLINT(bugprone-reserved-identifier)  \
                          */

#include "backends/onednn/pages.h"

#include <sys/mman.h>

#include "support/banned.h"

void pages_ask_huge(void *block, size_t bytes) {
#ifdef MADV_HUGEPAGE
    (void)madvise(block, bytes & ~(PAGES_HUGE - 1), MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}
