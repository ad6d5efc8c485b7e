/* SPDX-License-Identifier: Apache-2.0 */
/* The 4 KiB pages of a block differ from run to run, and with them cache set conflicts and TLB
 * misses. */
/* For madvise; the name is libc's. NOLINTNEXTLINE(bugprone-reserved-identifier) */
#define _DEFAULT_SOURCE

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
