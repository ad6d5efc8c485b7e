/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes. */
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <sys/types.h>

/* To be called in a child of `parent`: the kernel then kills the child when the parent
 * terminates, even if the child hangs. Exits if the parent has terminated already. No effect
 * outside Linux. */
void child_end_with_parent(pid_t parent);

#endif
