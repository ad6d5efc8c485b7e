/* SPDX-License-Identifier: Apache-2.0 */
/* See child.h. */
#include "support/child.h"

#include <signal.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

void child_end_with_parent(pid_t parent) {
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
#else
    (void)parent;
#endif
}
