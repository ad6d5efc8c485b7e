/* SPDX-License-Identifier: Apache-2.0 */
/* hash_text takes eight bytes per step: it multiplies each word by a number derived from the
 * seed, and folds the 128-bit product into 64 bits. Collisions cannot be predicted without
 * the seed. */
#include "support/hash.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t fold(uint64_t a, uint64_t b) {
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the last 1 to 7 bytes as one word. Different bytes of the same length give different
 * words, although the two reads may overlap; the length is hashed too. */
static uint64_t hash_rest(const char *rest, size_t length) {
    uint32_t front = 0;
    uint32_t back = 0;
    if (length >= sizeof front) {
        memcpy(&front, rest, sizeof front); /* constant size: no call */
        memcpy(&back, rest + length - sizeof back, sizeof back);
        return front | (uint64_t)back << 32;
    }
    return (uint64_t)(unsigned char)rest[0] | (uint64_t)(unsigned char)rest[length / 2] << 8 |
           (uint64_t)(unsigned char)rest[length - 1] << 16;
}

uint64_t hash_text(const char *text, size_t length, uint64_t seed) {
    const uint64_t multiplier = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    uint64_t hash = HASH_BYTES_BEGIN ^ length;
    uint64_t word = 0;
    for (; length >= sizeof word; length -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = fold(hash ^ word, multiplier);
    }
    if (length > 0) hash = fold(hash ^ hash_rest(text, length), multiplier);
    return fold(hash ^ seed, 0xff51afd7ed558ccdu);
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}
