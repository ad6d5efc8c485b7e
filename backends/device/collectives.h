/* SPDX-License-Identifier: Apache-2.0 */
/* Times of collectives among GPUs, from the device's link (docs/decisions/collectives.md). */
#pragma once

#include <stdbool.h>

#include "backends/device/devices.h"

/* "bytes" is what nccl-tests prints as size, for each GPU of n: */
enum device_collective {
    DEVICE_ALL_REDUCE,     /* its buffer; wire bytes: 2 (n-1)/n of it */
    DEVICE_ALL_GATHER,     /* its output, the sum of all inputs; wire: (n-1)/n of it */
    DEVICE_REDUCE_SCATTER, /* its input, n times its output; wire: (n-1)/n of it */
    DEVICE_ALL_TO_ALL,     /* its input, 1/n of it for each GPU; wire: (n-1)/n of it */
    DEVICE_SEND,           /* what it sends to another GPU, whatever n is; wire: all of it */
    DEVICE_N_COLLECTIVES
};

struct device_collective_time {
    double expected;      /* seconds */
    double bound;         /* seconds; lower bound: wire bytes at the published rates */
    double wire_bytes;    /* that each GPU must send over the link of its node */
    double network_bytes; /* that each GPU must send to other nodes */
};

/* Returns "all_reduce", ..; device_collective_find returns DEVICE_N_COLLECTIVES for others. */
const char *device_collective_name(enum device_collective op);
enum device_collective device_collective_find(const char *name);

/* Return the key in a device file of the index-th fitted constant of a link, NULL past the
 * last, and a pointer to it. */
const char *device_link_member_name(size_t index);
double *device_link_member_at(struct device_link *link, size_t index);

/* Returns the link between the GPUs of a node, unset constants replaced by defaults; the link
 * to the host if the device has none. bytes_per_s is 0 if both are unknown. */
struct device_link device_link_find(const struct device_model *model);

/* Computes the time of a collective among `gpus` GPUs of one node; 0 for one GPU. Switches that
 * sum (in_network) reduce the wire bytes of an all-reduce to its buffer. Returns false if the
 * rate of the link is unknown. */
bool device_collective_time(const struct device_model *model, enum device_collective op,
                            int gpus, double bytes, struct device_collective_time *ret);

/* Exchange of tokens with the GPUs that hold their experts, under uniform routing. A token goes
 * once to each node that has one of its experts, and there once to each such GPU. */
struct device_exchange {
    int nodes;
    int gpus;           /* of each node */
    double tokens;      /* of each GPU */
    double token_bytes; /* dispatch: fp8 elements and scales, or bf16; combine: bf16 */
    int experts;        /* of all GPUs together */
    int top_k;          /* experts of a token */
    int node_limit;     /* most nodes that the experts of a token are on; 0: no limit */
    bool combine;       /* false: dispatch */
};

/* Returns false if the rate of the link, or of the network between nodes, is unknown. */
bool device_exchange_time(const struct device_model *model,
                          const struct device_exchange *exchange,
                          struct device_collective_time *ret);
