/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes. */
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <sys/types.h>

/* In a child of `parent`: requests that it is killed when the parent terminates, even if it
 * hangs. Exits if the parent has terminated already. No effect outside Linux. */
void child_end_with_parent(pid_t parent);

#endif
