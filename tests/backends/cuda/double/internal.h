/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of the driver's double. */
#pragma once

#include "double.h"

#define EXPORT __attribute__((visibility("default")))

#define MAX_STREAMS 4096
#define NULL_STREAM 1 /* number of the legacy default stream */

struct CUgraph_st;

struct CUstream_st {
    int number;
    unsigned flags;
};

/* By number of the stream: the step up to which its work is complete. */
extern uint64_t double_synced[MAX_STREAMS];
/* Step of the work enqueued last; clock of the device, in seconds. */
extern uint64_t double_step;
extern double double_now;

/* Returns the status of an injected failure or of a lost device, else CUDA_SUCCESS. */
CUresult driver_fails(const char *name);
/* Checks stream and context; *ret_number is the stream's number. */
CUresult driver_stream(const char *call, CUstream stream, int *ret_number);
/* Returns the asynchronous error, if any, and makes it sticky. */
CUresult driver_settle(void);

#define TRY(name)                                                                              \
    do {                                                                                       \
        const CUresult failed = driver_fails(name);                                            \
        if (failed != CUDA_SUCCESS) return failed;                                             \
    } while (0)

/* Checks that the accesses of a launch are inside allocations. If it runs now instead of being
 * captured, also checks the order of its accesses and records its writes. */
CUresult memory_access(const struct double_launch *launch, int stream, bool runs);

/* Sets *ret to the graph that the stream captures, NULL if it does not capture. */
CUresult graph_of_stream(CUstream stream, struct CUgraph_st **ret);
/* Returns an error if this operation on the stream is illegal during its capture. */
CUresult graph_refuse(CUstream stream);
CUresult graph_add(struct CUgraph_st *graph, CUgraphNodeType type,
                   const struct double_launch *launch, CUfunction function, CUevent event);
/* Runs or captures work of a stream. */
CUresult graph_enqueue(CUstream stream, CUgraphNodeType type,
                       const struct double_launch *launch, CUfunction function);
/* Advances the clock by one launch. */
void driver_run(void);
void driver_record(CUevent event, int stream);
