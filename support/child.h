/* SPDX-License-Identifier: Apache-2.0 */
/* Ends child processes whose parent has ended. */
#pragma once

#include <sys/types.h>

/* Call it in a child of the process `parent`: the kernel then kills the child when the parent
 * terminates, even if the child hangs. Exits if the parent has terminated already. No effect on
 * systems other than Linux. */
void child_end_with_parent(pid_t parent);
