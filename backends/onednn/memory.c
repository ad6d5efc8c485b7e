/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and fills operand memory. Large blocks use huge pages if the system provides them:
 * the physical 4 KiB pages of a block differ from run to run, and with them its cache set
 * conflicts and TLB misses (docs/measuring.md). */
#include "backends/onednn/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/banned.h"

#define ALIGNMENT    ((size_t)64)
#define HUGE_PAGE    ((size_t)2 << 20)
#define PATTERN_SIZE ((size_t)65536) /* bytes of random elements, then repeated */

size_t memory_aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void *memory_new(size_t bytes) {
    void *block = NULL;
    const bool large = bytes >= HUGE_PAGE;
    if (posix_memalign(&block, large ? HUGE_PAGE : ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(block, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return block;
}

/* The generator of Numerical Recipes: random enough to keep a multiplier busy. */
static uint32_t random_next(uint32_t *state) {
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Returns 1/4 .. 5/4: roots and logarithms are finite, sums of a few thousand products do not
 * overflow fp16, nothing is denormal. */
static float random_float(uint32_t *state) {
    return 0.25F + (float)random_next(state) / 16777216.0F;
}

static void fill_pattern(char *pattern, size_t size, dnnl_data_type_t type, double scale) {
    uint32_t state = 12345;
    for (size_t at = 0; at < size; at += 4) {
        const float number = random_float(&state) * (float)scale;
        uint32_t bits = 0;
        memcpy(&bits, &number, sizeof(bits));
        if (type == dnnl_bf16) bits = (bits >> 16) | (bits & 0xFFFF0000U);
        /* Two fp16 numbers from 1/4 to 1/2: exponent 13, any mantissa. */
        if (type == dnnl_f16) bits = 0x34003400U | (random_next(&state) & 0x03FF03FFU);
        if (type == dnnl_s8 || type == dnnl_u8 || type == dnnl_s32)
            bits = random_next(&state) & 0x07070707U;
        memcpy(pattern + at, &bits, size - at < 4 ? size - at : 4);
    }
}

/* Fills the first PATTERN_SIZE bytes, then repeats them. */
void memory_fill(void *bytes, size_t size, dnnl_data_type_t type, double scale) {
    const size_t first = size < PATTERN_SIZE ? size : PATTERN_SIZE;
    char *at = bytes;
    fill_pattern(at, first, type, scale);
    for (size_t done = first; done < size; done += first)
        memcpy(at + done, at, size - done < first ? size - done : first);
}
