/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked for times: the three options that say it, and the line that shows the waiting.
 */
#ifndef CLI_REQUESTED_H
#define CLI_REQUESTED_H

#include <stdbool.h>

#include "cli/options.h"
#include "costmodel/costmodel.h"

enum asked_measure { ASKED_NOTHING, ASKED_CPU, ASKED_CUDA };

struct asked {
    int measure; /* enum asked_measure: --measure */
    const char *backend;
    const char *device; /* of the roofline, or of a plan */
    bool plan;
    int precision; /* enum cm_precision */
    bool e2e;      /* the whole network too */
    bool cache;    /* keep what is measured */
    int layout;    /* enum cm_layout */
    int autotune;  /* algorithms to try; 0: as many as it takes without running one */
};

/* The rows of the help's group of times; --plan and --e2e are only the profile's. */
extern const struct option asked_times[];

void asked_defaults(struct asked *asked);
/* The name of an option that is not at its default; NULL: none. */
const char *asked_given(const struct asked *asked);

/* Sets options->backend. CM_OK, CM_USAGE (more than one is asked), CM_NO_MEMORY. */
int asked_read(const struct invocation *call, const struct asked *asked,
               struct cm_options *options) CM_MUST_CHECK;

/* A line on standard error while a backend measures, if a person is there to see it. */
struct progress {
    bool shown;
    double begin; /* seconds: of the first layer */
};
void progress_show(void *progress, const struct cm_progress *at);
/* Takes the line away. */
void progress_end(const struct progress *progress);

#endif
