/* SPDX-License-Identifier: Apache-2.0 */
/* Prints numbers and tuples as Python does: see describe.h. */
#include "ops/describe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nine significant digits identify every float32 uniquely. */
#define FLOAT32_DIGITS 9

/* Faster than printf: a layer has several integers. */
void describe_int(struct text *out, int64_t value) {
    char digits[20];
    size_t at = sizeof(digits);
    if (!is_known(value)) {
        text_append(out, "?");
        return;
    }
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (value < 0) digits[--at] = '-';
    text_append_n(out, digits + at, sizeof(digits) - at);
}

/* value = d1.d2d3… * 10^exponent */
struct decimal {
    char digits[FLOAT32_DIGITS + 1];
    int n;
    int exponent; /* of the first digit */
};

/* Appends the digits [from, to); zeros past the last digit. */
static void append_digits(struct text *out, const struct decimal *decimal, int from, int to) {
    for (int i = from; i < to; i++)
        text_append_n(out, i >= 0 && i < decimal->n ? &decimal->digits[i] : "0", 1);
}

/* Appends the number as Python prints it: with an exponent if that is < -4 or >= 16, else with
 * at least one digit after the point. */
static void append_decimal(struct text *out, const struct decimal *decimal) {
    int whole = decimal->exponent + 1; /* digits before the point */
    if (decimal->exponent < -4 || decimal->exponent >= 16) {
        append_digits(out, decimal, 0, 1);
        if (decimal->n > 1) text_append(out, ".");
        append_digits(out, decimal, 1, decimal->n);
        text_printf(out, "e%+03d", decimal->exponent);
        return;
    }
    append_digits(out, decimal, whole < 1 ? whole - 1 : 0, whole);
    text_append(out, ".");
    append_digits(out, decimal, whole, decimal->n > whole ? decimal->n : whole + 1);
}

void describe_real(struct text *out, double value) {
    char scientific[40];
    if (!isfinite(value)) {
        text_printf(out, "%g", value);
        return;
    }
    if (signbit(value)) text_append(out, "-");
    for (int digits = 1; digits <= FLOAT32_DIGITS; digits++) {
        snprintf(scientific, sizeof(scientific), "%.*e", digits - 1, fabs(value));
        bool exact = (float)strtod(scientific, NULL) == (float)fabs(value);
        if (!exact && digits < FLOAT32_DIGITS) continue;
        struct decimal decimal = {.n = 0};
        const char *e = strchr(scientific, 'e');
        for (const char *at = scientific; at < e; at++) /* skip the point of any locale */
            if (*at >= '0' && *at <= '9') decimal.digits[decimal.n++] = *at;
        decimal.exponent = (int)strtol(e + 1, NULL, 10);
        append_decimal(out, &decimal);
        return;
    }
}

void describe_tuple(struct text *out, size_t n, const int64_t *values) {
    text_append(out, "(");
    for (size_t i = 0; i < n; i++) {
        if (i) text_append(out, ", ");
        describe_int(out, values[i]);
    }
    text_append(out, n == 1 ? ",)" : ")");
}

bool describe_all_equal(size_t n, const int64_t *values, int64_t value) {
    for (size_t i = 0; i < n; i++)
        if (values[i] != value) return false;
    return true;
}

void describe_sizes(struct text *out, size_t n, const int64_t *values) {
    if (n > 0 && describe_all_equal(n, values, values[0]))
        describe_int(out, values[0]);
    else
        describe_tuple(out, n, values);
}

int describe_linear(int64_t in, int64_t out_features, bool bias, struct text *out) {
    text_append(out, "in_features=");
    describe_int(out, in);
    text_append(out, ", out_features=");
    describe_int(out, out_features);
    text_append(out, bias ? ", bias=True" : ", bias=False");
    return CM_OK;
}

int describe_float_attr(const struct op_context *context, const char *name, const char *attr,
                        struct text *out) {
    text_printf(out, "%s=", name);
    describe_real(out, op_attr_float(context, attr));
    return CM_OK;
}
