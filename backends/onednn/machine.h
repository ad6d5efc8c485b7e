/* SPDX-License-Identifier: Apache-2.0 */
/* What of the machine bears on times: processors, caches, memory, and who else is at work. */
#ifndef BACKENDS_ONEDNN_MACHINE_H
#define BACKENDS_ONEDNN_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"

/* Processors that this process may run on. */
int machine_processors(void);
/* "AMD EPYC 7B13"; "" not known. */
void machine_name(char *ret, size_t size);
/* Bytes of the last level of cache of the first processor. */
int64_t machine_cache_bytes(void);
/* Bytes that may be had without swapping, and all that there are; 0 not known. */
int64_t machine_free_bytes(void);
int64_t machine_memory_bytes(void);
/* Seconds that threads of this process wanted to run and others were let; 0 not known. */
double machine_waited(void);
/* Processes that wanted to run, on average over the last minute; < 0 not known. */
double machine_load(void);

/* The mean clock of the processors and the warmest sensor; what /sys does not
 * tell, as in most virtual machines, is 0. */
void machine_clocks(struct cm_clocks *ret);

#endif
