/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process is forked before the backend opens anything: a device belongs to the process
 * that opened it, and the program itself never does. It ends by _exit, since what it would
 * clean up is its own copy.
 */
#include "backends/worker.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "backends/child.h"
#include "backends/frame.h"
#include "backends/measure.h"

#include "support/banned.h"

static int answer(const struct child_setup *setup, struct cm_device *device,
                  const struct cm_primitive *primitive, struct cm_measurement *ret) {
    if (setup->settings.plan_only != 0)
        return measure_plan(setup->backend, device, primitive, ret);
    return measure_primitive(setup->backend, device, primitive, &setup->policy,
                             &timing_monotonic_clock, ret);
}

static void serve(const struct child_setup *setup, struct cm_device *device, int socket) {
    struct cm_primitive primitive;
    struct cm_measurement measurement;
    for (uint64_t sequence = 1;; sequence++) {
        if (frame_receive(socket, FRAME_REQUEST, sequence, &primitive, sizeof(primitive), -1) !=
            FRAME_OK)
            return;
        const int status = answer(setup, device, &primitive, &measurement);
        if (frame_send(socket, FRAME_RESULT, sequence, &measurement, sizeof(measurement)) !=
            FRAME_OK)
            return;
        if (status == CM_BACKEND_BROKEN) return;
    }
}

_Noreturn void worker_main(const struct child_setup *setup, int socket, pid_t parent) {
    struct worker_opened opened;
    struct cm_device *device = NULL;
#ifdef __linux__
    /* A parent that dies while a kernel hangs must not leave it running. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
#else
    (void)parent;
#endif
    /* Standard output is the report's; libraries that talk shall do it elsewhere. */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    memset(&opened, 0, sizeof(opened));
    opened.status = (int32_t)setup->backend->open(&setup->settings, &device, &opened.reason);
    if (opened.status == CM_BACKEND_OK) setup->backend->facts(device, &opened.facts);
    if (frame_send(socket, FRAME_OPENED, 0, &opened, sizeof(opened)) == FRAME_OK &&
        opened.status == CM_BACKEND_OK)
        serve(setup, device, socket);
    _exit(0);
}
