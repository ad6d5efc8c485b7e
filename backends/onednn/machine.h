/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of the machine that affect times: CPUs, caches, memory, load. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"

/* Returns the number of CPUs that this process may use. */
int machine_processors(void);
/* Writes the name of the CPU, such as "AMD EPYC 7B13"; "" if unknown. */
void machine_name(char *ret, size_t size);
/* Returns the bytes of the largest cache of the first CPU; 32 MiB if unknown. */
int64_t machine_cache_bytes(void);
/* Returns a number of bytes of /proc/meminfo, "MemTotal" or "MemAvailable"; 0: unknown. */
int64_t machine_meminfo(const char *key);
/* Returns the seconds that threads of this process waited for a CPU; 0 if unknown. */
double machine_waited(void);
/* Returns the load average over the last minute; < 0 if unknown. */
double machine_load(void);

/* Reads the mean and the maximum CPU clock and the highest temperature; each is 0 if /sys lacks
 * it, as in most virtual machines. */
void machine_clocks(struct cm_clocks *ret);
