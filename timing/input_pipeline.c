/* SPDX-License-Identifier: Apache-2.0 */
/* Pass input_pipeline: computes the demand, the rate at which storage and network must deliver
 * samples so that the device never waits, and finds the slowest link that is fast enough.
 *     demand = samples per step * bytes per sample / seconds per step
 * Example: 256 * 500 kB / 21.70 ms = 5.90 GB/s. */
#include "timing/input_pipeline.h"

#include "passes/batch/batch.h"
#include "passes/public_figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"
#include "timing/estimate.h"
#include "timing/gradient_kernels.h"
#include "timing/times.h"
#include "timing/timing.h"

#define GB 1e9

static const char ethernet[] = "IEEE 802.3, bit rate / 8";
static const char infiniband[] = "InfiniBand Trade Association, bit rate of 4 lanes / 8";

/* Slowest first. */
static const struct {
    const char *name;
    int64_t bytes_per_s;
    const char *source;
} links[] = {
    {"1 Gbit/s Ethernet", 125000000, ethernet},
    {"hard disk, 7200 rpm", 285000000, "Seagate Exos X20 data sheet, sustained transfer rate"},
    {"SATA SSD", 560000000, "Samsung 870 EVO data sheet, sequential read"},
    {"10 Gbit/s Ethernet", 1250000000, ethernet},
    {"25 Gbit/s Ethernet", 3125000000, ethernet},
    {"NVMe SSD, PCIe 3.0 x4", 3500000000, "Samsung 970 EVO Plus data sheet, sequential read"},
    {"NVMe SSD, PCIe 4.0 x4", 7000000000, "Samsung 980 PRO data sheet, sequential read"},
    {"100 Gbit/s Ethernet", 12500000000, ethernet},
    {"NVMe SSD, PCIe 5.0 x4", 14700000000, "Samsung 9100 PRO data sheet, sequential read"},
    {"200 Gbit/s InfiniBand HDR", 25000000000, infiniband},
    {"400 Gbit/s InfiniBand NDR", 50000000000, infiniband},
};

#define N_LINKS (sizeof(links) / sizeof(links[0]))

/* Returns the advice; NULL if out of memory. */
static const char *advise(const struct timing *timing,
                          const struct cm_input_pipeline *pipeline) {
    const double demand = (double)pipeline->bytes_per_s / GB;
    struct text text;
    size_t i = 0; /* the slowest link that is fast enough */
    text_init(&text, timing->core.result_arena);
    if (!is_known(pipeline->bytes_per_s))
        return pipeline->step_ps == 0
                   ? "The demand is unknown: the step takes no time."
                   : "The demand is unknown: the times belong to other shapes.";
    if ((timing->times->of_module[0].partial & CM_COST_BIT(latency_ps)) != 0)
        text_append(&text,
                    "The step omits nodes without a time: the demand is an upper bound. ");
    while (i < N_LINKS && links[i].bytes_per_s < pipeline->bytes_per_s) i++;
    if (i < N_LINKS)
        text_printf(&text, "%s (%.2f GB/s) is the slowest link that delivers %.2f GB/s.",
                    links[i].name, (double)links[i].bytes_per_s / GB, demand);
    else
        text_printf(&text,
                    "No link of the table delivers %.2f GB/s: read from several at once, or "
                    "keep the data set in memory.",
                    demand);
    if (is_known(pipeline->host_link) && pipeline->host_link < pipeline->bytes_per_s)
        text_printf(&text,
                    " The link from the host to the device (%.2f GB/s) is too slow: send "
                    "compressed samples and decode them on the device.",
                    (double)pipeline->host_link / GB);
    return text.failed ? NULL : text_string(&text);
}

int pass_input_pipeline(const struct analysis *analysis, void *own) {
    const struct timing *timing = timing_of(analysis);
    struct input_pipeline_table *table = own;
    const int64_t bytes = timing->core.options->sample_bytes;
    const int64_t batch =
        checked_mul(timing->core.batch->batch, pass_micro_batches(&timing->core));
    const int64_t training_ps = timing->gradient_kernels->iteration_ps;
    const double host_link = timing->estimate->facts.host_link;
    const struct imported *imported = timing->estimate->imported;
    const bool other_shape = imported != NULL && imported->other_shape != NULL;
    if (bytes <= 0 || !timing->estimate->done) return CM_OK;
    struct cm_input_pipeline *pipeline =
        arena_alloc(timing->core.result_arena, sizeof(*pipeline));
    struct cm_input_link *list = arena_array(timing->core.result_arena, N_LINKS, sizeof(*list));
    if (pipeline == NULL || list == NULL) return diag_no_memory(timing->core.diag);
    *pipeline = (struct cm_input_pipeline){
        .sample_bytes = bytes,
        .samples = is_known(batch) ? batch : 1,
        .step_ps = other_shape ? CM_UNKNOWN
                               : public_count(is_known(training_ps)
                                                  ? training_ps
                                                  : timing->times->of_module[0].latency_ps),
        .bytes_per_s = CM_UNKNOWN,
        .host_link = host_link > 0 ? public_rounded(host_link) : CM_UNKNOWN,
        .n_links = N_LINKS,
        .links = list,
    };
    if (pipeline->step_ps > 0)
        pipeline->bytes_per_s = public_rounded((double)pipeline->samples * (double)bytes /
                                               ((double)pipeline->step_ps * 1e-12));
    const int64_t demand = pipeline->bytes_per_s;
    for (size_t i = 0; i < N_LINKS; i++)
        list[i] = (struct cm_input_link){
            .name = links[i].name,
            .bytes_per_s = links[i].bytes_per_s,
            .suffices = is_known(demand) && links[i].bytes_per_s >= demand,
            .source = links[i].source,
        };
    pipeline->advice = advise(timing, pipeline);
    if (pipeline->advice == NULL) return diag_no_memory(timing->core.diag);
    table->pipeline = pipeline;
    return CM_OK;
}
