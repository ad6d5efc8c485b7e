/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of texts, for tables in memory. */
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

#endif
