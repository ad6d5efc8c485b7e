/* SPDX-License-Identifier: Apache-2.0 */
/* Eight bytes a step, since names are long and look-ups many: each is multiplied, to 128 bits,
 * by a number that is made of the seed, and the halves are folded. Where the multiplier is not
 * known, neither is which texts fall together. */
#include "support/hash.h"

#include <string.h>

#include "support/banned.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t fold(uint64_t a, uint64_t b) {
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The last 1 to 7 bytes as one word. Two reads may overlap: with the length, which is hashed
 * too, they still tell every text from every other. */
static uint64_t hash_rest(const char *rest, size_t length) {
    uint32_t front = 0;
    uint32_t back = 0;
    if (length >= sizeof front) {
        memcpy(&front, rest, sizeof front); /* of a size known here: no call */
        memcpy(&back, rest + length - sizeof back, sizeof back);
        return front | (uint64_t)back << 32;
    }
    return (uint64_t)(unsigned char)rest[0] | (uint64_t)(unsigned char)rest[length / 2] << 8 |
           (uint64_t)(unsigned char)rest[length - 1] << 16;
}

uint64_t hash_text(const char *text, size_t length, uint64_t seed) {
    const uint64_t multiplier = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    uint64_t hash = 0xcbf29ce484222325u ^ length;
    uint64_t word = 0;
    for (; length >= sizeof word; length -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = fold(hash ^ word, multiplier);
    }
    if (length > 0) hash = fold(hash ^ hash_rest(text, length), multiplier);
    return fold(hash ^ seed, 0xff51afd7ed558ccdu);
}
