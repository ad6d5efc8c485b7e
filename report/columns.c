/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics. Its order is the order of the summary and of JSON's totals. */
#include "report/columns.h"

#include <string.h>

#include "costmodel/result.h"

#include "support/banned.h"

#define AT(member) offsetof(struct cm_costs, member)

const struct column columns[] = {
    /* clang-format off */
    /* key               heading             ranking   unit           offset */
    {"params",           "params",           "params", NUMBER_PARAMS, AT(params)},
    {"buffers",          "buffers",          NULL,     NUMBER_PARAMS, AT(buffers)},
    {"macs",             "fwd MACs",         "MACs",   NUMBER_MACS,   AT(macs)},
    {"flops",            "fwd flops",        "flops",  NUMBER_FLOPS,  AT(flops)},
    {"bytes_read",       "bytes read",       NULL,     NUMBER_BYTES,  AT(bytes_read)},
    {"bytes_written",    "bytes written",    NULL,     NUMBER_BYTES,  AT(bytes_written)},
    {"weight_bytes",     "weight bytes",     NULL,     NUMBER_BYTES,  AT(weight_bytes)},
    {"activation_bytes", "activation bytes", NULL,     NUMBER_BYTES,  AT(activation_bytes)},
    /* clang-format on */
};

const size_t n_columns = sizeof(columns) / sizeof(columns[0]);

int64_t column_get(const struct column *column, const struct cm_costs *costs) {
    int64_t value = 0;
    memcpy(&value, (const char *)costs + column->offset, sizeof(value));
    return value;
}

void column_set(const struct column *column, struct cm_costs *costs, int64_t value) {
    memcpy((char *)costs + column->offset, &value, sizeof(value));
}
