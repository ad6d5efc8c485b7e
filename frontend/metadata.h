/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the notes of a node are read (metadata.c): the rest need not be kept, and are most
 * of the bytes of a file without weights. */
#ifndef FRONTEND_METADATA_H
#define FRONTEND_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a StringStringEntryProto in wire format, as skim wrote it. */
bool metadata_is_read(const uint8_t *entry, size_t size);

#endif
