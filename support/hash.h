/* SPDX-License-Identifier: Apache-2.0 */
/* Seeded hashes of texts for tables in memory, and hashes of bytes for checksums. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns a hash for tables in memory: its low bits, which choose a slot, depend on every bit
 * of the text. The seed is random (arena_seed), so that a file cannot choose names that all
 * fall into one slot; the output of the program must not depend on the hash. */
uint64_t hash_text(const char *text, size_t length, uint64_t seed);

#define HASH_BYTES_BEGIN UINT64_C(0xcbf29ce484222325)
/* Returns the FNV-1a hash of the preceding bytes and these; `hash` is the hash of the preceding
 * bytes, HASH_BYTES_BEGIN if there are none. The result is the same on all machines, so files
 * may contain it. Collisions are easy to construct. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);
