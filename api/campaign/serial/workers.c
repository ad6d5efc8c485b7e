/* SPDX-License-Identifier: Apache-2.0 */
/* See workers.h, on systems without fork: runs one task after the other in this process. A
 * crash ends the program; a run of the same campaign then continues after the last finished
 * item. */
#include "api/campaign/workers.h"

#include <stdlib.h>

#include "support/diag.h"
#include "support/system.h"

size_t workers_cores(void) {
    return 1;
}

static int run_task(const struct workers_job *job, size_t first, size_t n,
                    struct cm_diagnostics *diag) {
    struct memory_stream lines;
    if (!memory_stream_open(&lines)) return diag_no_memory(diag);
    int status = job->run(job->context, first, n, lines.out);
    if (!memory_stream_close(&lines)) status = CM_NO_MEMORY;
    if (status == CM_OK) status = job->done(job->context, first, n, lines.text, lines.size);
    free(lines.text);
    return diag_finish(diag, status);
}

int workers_run(const struct workers_job *job, size_t jobs, struct cm_diagnostics *diag) {
    int status = CM_OK;
    (void)jobs;
    for (size_t next = 0, n = 0; status == CM_OK && next < job->n; next += n) {
        n = job->task(job->context, next);
        for (size_t i = 0; status == CM_OK && i < n; i++)
            status = run_task(job, next + i, 1, diag);
    }
    return status;
}
