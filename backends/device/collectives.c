/* SPDX-License-Identifier: Apache-2.0 */
/* A collective takes a launch, the steps of its ring, and its wire bytes at a share of the
 * published rate. Its first bytes travel at half this share: short messages carry a flag with
 * each word, long ones fill a pipeline. bench/collectives.py fits the constants. */
#include "backends/device/collectives.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "support/text.h"

#define COPY 0.25 /* rate of the link / rate at which a GPU copies its own part */

/* Kernels of an expert exchange on 20 multiprocessors (DeepEP on H100). */
#define COMBINE_LAUNCH 1.6  /* of the launch of a dispatch */
#define EXCHANGE_SHARE 0.87 /* of the share that collectives reach */
#define LEAF_NODES     4    /* more nodes contend for the network */

/* Those of the H100, of the L40S (PCIe without peer access) and of DeepEP on H100. */
static const struct device_link switched_defaults = {
    .launch = 7.2e-6, .step = 6e-7, .share = 0.78, .fill = 3e-5};
static const struct device_link host_defaults = {.name = "host link",
                                                 .launch = 6.9e-6,
                                                 .step = 3.6e-7,
                                                 .share = 0.76,
                                                 .fill = 2e-5,
                                                 .contention = 2};
static const struct device_link network_defaults = {
    .launch = 3e-5, .step = 2.4e-6, .share = 1, .contention = 1.4};

static const struct {
    const char *name;
    int ring_passes; /* of n - 1 steps; 0: all GPUs at once */
    int wire_passes; /* of (n-1)/n of the bytes; 0: all bytes, to one GPU */
} collectives[] = {
    [DEVICE_ALL_REDUCE] = {"all_reduce", 2, 2},
    [DEVICE_ALL_GATHER] = {"all_gather", 1, 1},
    [DEVICE_REDUCE_SCATTER] = {"reduce_scatter", 1, 1},
    [DEVICE_ALL_TO_ALL] = {"all_to_all", 0, 1},
    [DEVICE_SEND] = {"send", 0, 0},
};

#define MEMBER(name)                                                                           \
    { #name, offsetof(struct device_link, name) }

static const struct {
    const char *name;
    size_t offset;
} members[] = {MEMBER(launch),     MEMBER(step),       MEMBER(share), MEMBER(fill),
               MEMBER(contention), MEMBER(in_network), MEMBER(peers)};

const char *device_link_member_name(size_t index) {
    return index < sizeof(members) / sizeof(*members) ? members[index].name : NULL;
}

double *device_link_member_at(struct device_link *link, size_t index) {
    void *member = (char *)link + members[index].offset;
    return member;
}

const char *device_collective_name(enum device_collective op) {
    return collectives[op].name;
}

enum device_collective device_collective_find(const char *name) {
    int op = 0;
    while (op < DEVICE_N_COLLECTIVES && !text_equal(collectives[op].name, name)) op++;
    return (enum device_collective)op;
}

static struct device_link with_defaults(struct device_link link, struct device_link defaults) {
    for (size_t i = 0; device_link_member_name(i) != NULL; i++) {
        double *member = device_link_member_at(&link, i);
        if (*member <= 0) *member = *device_link_member_at(&defaults, i);
    }
    return link;
}

struct device_link device_link_find(const struct device_model *model) {
    if (model->link.bytes_per_s > 0) {
        const bool is_shared = model->link.contention > 0;
        return with_defaults(model->link, is_shared ? host_defaults : switched_defaults);
    }
    struct device_link ret = host_defaults;
    ret.bytes_per_s = model->host_link;
    return ret;
}

/* Returns the seconds of a transfer that takes `s` seconds at the full rate. */
static double filled(const struct device_link *link, double s) {
    return s > 0 ? s + 1 / (1 / s + 1 / link->fill) : 0;
}

/* Returns the bytes per second that each of n GPUs sends while all do. Without a switch, a GPU
 * has a link of its own to each peer. */
static double rate_among(const struct device_link *link, int n) {
    double rate = link->share * link->bytes_per_s;
    if (link->peers > 0) rate *= fmin(1, (n - 1) / link->peers);
    return rate * pow(2.0 / n, link->contention);
}

bool device_collective_time(const struct device_model *model, enum device_collective op,
                            int gpus, double bytes, struct device_collective_time *ret) {
    const struct device_link link = device_link_find(model);
    const double n = gpus;
    memset(ret, 0, sizeof(*ret));
    if (link.bytes_per_s <= 0) return false;
    if (gpus <= 1) return true;
    const int passes = collectives[op].wire_passes;
    double wire = passes > 0 ? passes * (n - 1) / n * bytes : bytes;
    double s = wire / rate_among(&link, passes > 0 ? gpus : 2);
    if (passes > 0) s *= 1 + COPY / (n - 1);
    if (op == DEVICE_ALL_REDUCE && link.in_network > 0) {
        /* Each GPU sends its buffer once, to be summed, and receives the sum. */
        s = fmin(s, (n + 1) / n * bytes / (link.in_network * link.bytes_per_s));
        wire = fmin(wire, bytes);
    }
    ret->wire_bytes = wire;
    ret->bound = wire / link.bytes_per_s;
    ret->expected =
        link.launch + collectives[op].ring_passes * (n - 1) * link.step + filled(&link, s);
    return true;
}

/* Returns the probability that none of a token's top_k experts is among `some` of `all`. */
static double probability_of_none(double all, double some, int top_k) {
    double ret = 1;
    for (int i = 0; i < top_k && i < all; i++) ret *= fmax(0, all - some - i) / (all - i);
    return ret;
}

bool device_exchange_time(const struct device_model *model,
                          const struct device_exchange *exchange,
                          struct device_collective_time *ret) {
    const struct device_link link = device_link_find(model);
    const struct device_link network = with_defaults(model->network, network_defaults);
    const double nodes = exchange->nodes;
    const double gpus = exchange->gpus;
    double reached = nodes; /* nodes that may have experts of a token */
    memset(ret, 0, sizeof(*ret));
    if (link.bytes_per_s <= 0 || (nodes > 1 && network.bytes_per_s <= 0)) return false;
    if (nodes * gpus <= 1) return true;
    if (exchange->node_limit > 0) reached = fmin(reached, exchange->node_limit);
    const double experts = exchange->experts * reached / nodes;
    const double bytes = exchange->tokens * exchange->token_bytes;
    const int k = exchange->top_k;
    const double to_node = 1 - probability_of_none(experts, experts / reached, k);
    const double to_gpu = 1 - probability_of_none(experts, experts / reached / gpus, k);
    ret->network_bytes = bytes * reached * to_node * (nodes - 1) / nodes;
    ret->wire_bytes = bytes * reached * gpus * to_gpu * (gpus - 1) / gpus;
    ret->bound = ret->wire_bytes / link.bytes_per_s;
    double s = 0;
    if (gpus > 1) s = ret->wire_bytes / (EXCHANGE_SHARE * rate_among(&link, exchange->gpus));
    if (nodes > 1) {
        const double spread = pow(fmin(1, LEAF_NODES / nodes), network.contention);
        ret->bound = fmax(ret->bound, ret->network_bytes / network.bytes_per_s);
        /* The link forwards tokens while the network delivers others. */
        const double other =
            ret->network_bytes / (network.share * spread * network.bytes_per_s);
        s = sqrt(s * s + other * other); /* hypot would require glibc 2.35 */
    }
    ret->expected = (exchange->combine ? COMBINE_LAUNCH : 1) * network.launch +
                    (nodes - 1) * network.step + filled(&link, s);
    return true;
}
