/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of texts, for tables in memory, and of bytes. */
#ifndef SUPPORT_HASH_H
#define SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Every bit of the text reaches the low bits, which choose a slot. The seed is
 * random (arena_seed), so that a file cannot choose names that all fall into one slot; the
 * output must not depend on it.
 */
uint64_t hash_text(const char *text, size_t length, uint64_t seed);

#define HASH_BYTES_BEGIN UINT64_C(0xcbf29ce484222325)
/* Returns `hash` continued over the bytes, from HASH_BYTES_BEGIN: FNV-1a, equal on all
 * machines. For checksums and files; a file can choose bytes that collide. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
