/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the notes of a node are read (metadata.c): the rest need not be kept, and are most
 * of the bytes of a file without weights. */
#ifndef FRONTEND_METADATA_H
#define FRONTEND_METADATA_H

#include "frontend/wire/wire.h"

/* Of a StringStringEntryProto as skim kept it: its last key counts. */
bool metadata_is_read(struct span entry);

#endif
