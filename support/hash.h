/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of texts, for tables in memory. Seedless: equal texts are equal on every machine of
 * one byte order, and in every run. */
#ifndef SUPPORT_HASH_H
#define SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Every bit of the text reaches the low bits, which choose a slot. */
uint64_t hash_text(const char *text, size_t length);

#endif
