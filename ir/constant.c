/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors and accessors of constants, conversion of small floats, and decoding of stored
 * bytes. In every layout, the stored bytes are a sequence of units: unsigned numbers, one per
 * element, or bytes that several packed elements share. Units are split into elements, and
 * elements are converted to int64 or double. */
#include "ir/constant.h"

#include <math.h>
#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define VARINT_MAX_BYTES 10 /* protobuf: seven bits a byte */

struct constant *constant_new(struct arena *arena, enum dtype dtype,
                              const struct shape *shape) {
    struct constant *constant = arena_alloc(arena, sizeof *constant);
    if (constant == NULL) return NULL;
    constant->dtype = dtype;
    constant->shape = *shape;
    constant->n_elements = shape_elements(shape);
    constant->place = CONSTANT_IN_MEMORY;
    return constant;
}

/* Copies n elements of `size` bytes; returns NULL if n is unknown or memory ran out. */
static void *copy_elements(struct arena *arena, const void *values, int64_t n, size_t size) {
    size_t bytes = 0;
    if (!is_known(n) || n < 0 || __builtin_mul_overflow((uint64_t)n, size, &bytes)) return NULL;
    return arena_copy(arena, values, bytes);
}

struct constant *constant_ints(struct arena *arena, enum dtype dtype, const struct shape *shape,
                               const int64_t *values) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (constant)
        constant->ints = copy_elements(arena, values, constant->n_elements, sizeof *values);
    return constant && constant->ints ? constant : NULL;
}

struct constant *constant_reals(struct arena *arena, enum dtype dtype,
                                const struct shape *shape, const double *values) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (constant)
        constant->reals = copy_elements(arena, values, constant->n_elements, sizeof *values);
    return constant && constant->reals ? constant : NULL;
}

struct constant *constant_splat(struct arena *arena, enum dtype dtype,
                                const struct shape *shape, struct number value) {
    struct constant *constant = constant_new(arena, dtype, shape);
    if (!constant) return NULL;
    constant->place = CONSTANT_SPLAT;
    if (value.real)
        constant->reals = arena_copy(arena, &value.r, sizeof value.r);
    else
        constant->ints = arena_copy(arena, &value.i, sizeof value.i);
    return constant->reals || constant->ints ? constant : NULL;
}

static bool is_loaded(const struct constant *constant) {
    return constant->place == CONSTANT_IN_MEMORY || constant->place == CONSTANT_SPLAT;
}

bool constant_has_ints(const struct constant *constant) {
    const enum dtype_class class = dtype_class(constant->dtype);
    return is_loaded(constant) && (class == DTYPE_CLASS_INT || class == DTYPE_CLASS_BOOL) &&
           (constant->ints != NULL || constant->n_elements == 0);
}

bool constant_has_reals(const struct constant *constant) {
    return is_loaded(constant) && dtype_is_float(constant->dtype) &&
           (constant->reals != NULL || constant->n_elements == 0);
}

bool constant_has_numbers(const struct constant *constant) {
    return constant_has_ints(constant) || constant_has_reals(constant);
}

int64_t constant_int_at(const struct constant *constant, int64_t i) {
    BUG_ON(!constant_has_ints(constant) || i < 0 || i >= constant->n_elements);
    return constant->ints[constant->place == CONSTANT_SPLAT ? 0 : i];
}

double constant_real_at(const struct constant *constant, int64_t i) {
    BUG_ON(!constant_has_reals(constant) || i < 0 || i >= constant->n_elements);
    return constant->reals[constant->place == CONSTANT_SPLAT ? 0 : i];
}

struct number constant_number_at(const struct constant *constant, int64_t i) {
    if (constant_has_reals(constant))
        return (struct number){.given = true, .real = true, .r = constant_real_at(constant, i)};
    return (struct number){.given = true, .i = constant_int_at(constant, i)};
}

int number_compare(struct number a, struct number b) {
    return a.real ? (a.r > b.r) - (a.r < b.r) : (a.i > b.i) - (a.i < b.i);
}

/* Layout of a small float: sign, exponent and mantissa from the top bit. SPECIAL_NAN_ONES: all
 * ones is NaN, and there is no infinity; SPECIAL_NAN_MINUS_ZERO: -0 is NaN. */
struct float_format {
    enum dtype dtype;
    int exponent_bits;
    int mantissa_bits;
    int bias;
    enum { SPECIAL_IEEE, SPECIAL_NAN_ONES, SPECIAL_NAN_MINUS_ZERO, SPECIAL_NONE } special;
};

/* IEEE 754-2019 3.4; "FP8 Formats for Deep Learning" (arXiv 2209.05433) for E4M3FN and E5M2;
 * arXiv 2206.02915 for the FNUZ kinds; OCP Microscaling v1.0 for E2M1. */
static const struct float_format float_formats[] = {
    {DTYPE_FLOAT16, 5, 10, 15, SPECIAL_IEEE},
    {DTYPE_BFLOAT16, 8, 7, 127, SPECIAL_IEEE},
    {DTYPE_FLOAT8E4M3FN, 4, 3, 7, SPECIAL_NAN_ONES},
    {DTYPE_FLOAT8E4M3FNUZ, 4, 3, 8, SPECIAL_NAN_MINUS_ZERO},
    {DTYPE_FLOAT8E5M2, 5, 2, 15, SPECIAL_IEEE},
    {DTYPE_FLOAT8E5M2FNUZ, 5, 2, 16, SPECIAL_NAN_MINUS_ZERO},
    {DTYPE_FLOAT4E2M1, 2, 1, 1, SPECIAL_NONE},
};

static double widen_small(const struct float_format *format, uint64_t bits) {
    const int m = format->mantissa_bits;
    const uint64_t ones = ((uint64_t)1 << format->exponent_bits) - 1;
    const uint64_t fraction_ones = ((uint64_t)1 << m) - 1;
    const uint64_t fraction = bits & fraction_ones;
    const uint64_t exponent = bits >> m & ones;
    const bool negative = bits >> (m + format->exponent_bits) & 1;

    double value = exponent == 0 ? ldexp((double)fraction, 1 - format->bias - m)
                                 : ldexp((double)(fraction + fraction_ones + 1),
                                         (int)exponent - format->bias - m);
    if (format->special == SPECIAL_IEEE && exponent == ones)
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    if (format->special == SPECIAL_NAN_ONES && exponent == ones && fraction == fraction_ones)
        value = (double)NAN;
    if (format->special == SPECIAL_NAN_MINUS_ZERO && negative && exponent == 0 && fraction == 0)
        value = (double)NAN;
    return negative ? -value : value;
}

double constant_widen(enum dtype dtype, uint64_t bits) {
    if (dtype == DTYPE_FLOAT) {
        const uint32_t word = (uint32_t)bits;
        float value = 0;
        memcpy(&value, &word, sizeof value);
        return (double)value;
    }
    if (dtype == DTYPE_DOUBLE) {
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (dtype == DTYPE_FLOAT8E8M0) /* an exponent only: OCP Microscaling v1.0, 5.4.1 */
        return bits == 0xFF ? (double)NAN : ldexp(1.0, (int)(bits & 0xFF) - 127);
    for (size_t i = 0; i < sizeof float_formats / sizeof float_formats[0]; i++)
        if (float_formats[i].dtype == dtype) return widen_small(&float_formats[i], bits);
    return (double)NAN;
}

/* Reads stored bytes element by element. */
struct units {
    const uint8_t *bytes;
    size_t n_bytes;
    size_t at;
    size_t width;  /* bytes of a unit; 0 for varints */
    int bits;      /* of an element */
    int n_in_unit; /* elements per unit */
    int n_left;    /* elements left in `current` */
    uint64_t current;
};

/* Reads the next unit into `current`. Returns false if the bytes end inside it, or if a varint
 * has more than VARINT_MAX_BYTES bytes. */
static bool next_unit(struct units *units) {
    units->current = 0;
    units->n_left = units->n_in_unit;
    if (units->width > 0) {
        if (units->n_bytes - units->at < units->width) return false;
        for (size_t k = units->width; k-- > 0;)
            units->current = units->current << 8 | units->bytes[units->at + k];
        units->at += units->width;
        return true;
    }
    for (int i = 0; i < VARINT_MAX_BYTES && units->at < units->n_bytes; i++) {
        const uint8_t byte = units->bytes[units->at++];
        units->current |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) return true;
    }
    return false;
}

/* Sets *ret_bits to the next element, or returns false. Packed elements begin in the lowest
 * bits. */
static bool next_element(struct units *units, uint64_t *ret_bits) {
    const uint64_t mask = units->bits < 64 ? ((uint64_t)1 << units->bits) - 1 : UINT64_MAX;
    if (units->n_left == 0 && !next_unit(units)) return false;
    *ret_bits = units->current & mask;
    if (units->n_in_unit > 1) units->current >>= units->bits;
    units->n_left--;
    return true;
}

/* Converts an integer or bool. A uint64 keeps its 64 bits: values >= 2^63 become negative. */
static int64_t widen_int(enum dtype dtype, uint64_t bits) {
    const uint64_t sign = (uint64_t)1 << (dtype_bits(dtype) - 1);
    const bool is_signed = dtype == DTYPE_INT8 || dtype == DTYPE_INT16 ||
                           dtype == DTYPE_INT32 || dtype == DTYPE_INT64 ||
                           dtype == DTYPE_INT4 || dtype == DTYPE_INT2;
    if (dtype == DTYPE_BOOL) return bits != 0;
    if (is_signed) bits = (bits ^ sign) - sign;
    int64_t value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Sets *ret to a new constant with the elements in `bytes`. */
static int decode_elements(const struct constant *constant, const uint8_t *bytes,
                           size_t n_bytes, struct arena *arena, struct cm_diagnostics *diag,
                           const struct constant **ret) {
    const int width = dtype_bits(constant->dtype);
    const bool is_packed = width < 8;
    struct units units = {.bytes = bytes,
                          .n_bytes = n_bytes,
                          .bits = width,
                          .n_in_unit = is_packed ? 8 / width : 1};
    if (constant->encoding != ENCODING_PACKED_VARINT)
        units.width = is_packed ? 1 : (size_t)width / 8;
    const size_t n = (size_t)constant->n_elements;
    const bool is_float = dtype_is_float(constant->dtype);
    struct constant *loaded = constant_new(arena, constant->dtype, &constant->shape);
    int64_t *ints = is_float ? NULL : arena_array(arena, n, sizeof *ints);
    double *reals = is_float ? arena_array(arena, n, sizeof *reals) : NULL;
    if (!loaded || (!ints && !reals)) return diag_no_memory(diag);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        if (!next_element(&units, &bits))
            return diag_error(diag, DIAG_VALUE, "tensor must hold %zu elements, got %zu", n, i);
        if (is_float)
            reals[i] = constant_widen(constant->dtype, bits);
        else
            ints[i] = widen_int(constant->dtype, bits);
    }
    if (units.at != n_bytes)
        return diag_error(diag, DIAG_VALUE, "tensor of %zu elements has %zu bytes too many", n,
                          n_bytes - units.at);
    loaded->ints = ints;
    loaded->reals = reals;
    *ret = loaded;
    return CM_OK;
}

/* Sets *ret_length to the number of stored bytes, after checking it against dims and dtype. */
static int measure(const struct constant *constant, struct cm_diagnostics *diag,
                   size_t *ret_length) {
    const enum dtype dtype = constant->dtype;
    const int64_t want = dtype_bytes(dtype, constant->n_elements);
    const bool is_varint = constant->encoding == ENCODING_PACKED_VARINT;
    const bool is_undeclared = constant->place == CONSTANT_EXTERNAL && constant->length == 0;
    const uint64_t length = is_undeclared ? (uint64_t)want : constant->length;
    const uint64_t max_bytes = (uint64_t)constant->n_elements * VARINT_MAX_BYTES;
    /* float_data must hold floats and double_data doubles: both have the layout of raw_data. */
    if ((constant->encoding == ENCODING_PACKED_FIXED4 && dtype != DTYPE_FLOAT) ||
        (constant->encoding == ENCODING_PACKED_FIXED8 && dtype != DTYPE_DOUBLE) ||
        (is_varint && (dtype == DTYPE_FLOAT || dtype == DTYPE_DOUBLE)))
        return diag_error(diag, DIAG_VALUE,
                          "tensor of type %s stores its data in the field of another type",
                          dtype_name(dtype));
    if (is_varint ? length > max_bytes : length != (uint64_t)want) {
        return diag_error(
            diag, DIAG_VALUE, "tensor of %lld elements of %s must have %s%lld bytes, got %llu",
            (long long)constant->n_elements, dtype_name(dtype), is_varint ? "at most " : "",
            (long long)(is_varint ? (int64_t)max_bytes : want), (unsigned long long)length);
    }
    *ret_length = (size_t)length;
    return CM_OK;
}

static bool is_foldable(const struct constant *constant) {
    const enum dtype_class class = dtype_class(constant->dtype);
    if (class == DTYPE_CLASS_NONE || class == DTYPE_CLASS_COMPLEX) return false;
    if (constant->place == CONSTANT_ABSENT) return false;
    if (class == DTYPE_CLASS_STRING && !is_loaded(constant)) return false;
    if (constant->place == CONSTANT_SPLAT) return true;
    return constant->n_elements >= 0 && constant->n_elements <= CONSTANT_MAX_ELEMENTS;
}

const char *constant_unreadable(const struct constant *constant,
                                const struct constant_reader *reader) {
    const bool is_in_file =
        constant->place == CONSTANT_IN_FILE || constant->place == CONSTANT_EXTERNAL;
    const char *reason = NULL;
    if (is_in_file && reader->read)
        (void)reader->read(reader->context, constant, NULL, 0, NULL, &reason);
    return reason;
}

int constant_load(const struct constant *constant, const struct constant_reader *reader,
                  struct arena *arena, struct cm_diagnostics *diag,
                  const struct constant **ret) {
    const bool in_reach = constant->place == CONSTANT_RAW || is_loaded(constant) ||
                          (reader != NULL && reader->read != NULL);
    const uint8_t *bytes = constant->raw;
    size_t length = 0;
    if (!is_foldable(constant) || !in_reach) {
        *ret = NULL;
        return CM_OK;
    }
    if (is_loaded(constant)) {
        *ret = constant;
        return CM_OK;
    }
    int status = measure(constant, diag, &length);
    if (status == CM_OK && constant->place != CONSTANT_RAW) {
        const char *unreadable = NULL;
        uint8_t *read = arena_alloc(arena, length);
        if (read == NULL)
            status = diag_no_memory(diag);
        else if (length > 0)
            status = reader->read(reader->context, constant, read, length, diag, &unreadable);
        bytes = unreadable ? NULL : read;
    }
    if (status == CM_OK && !bytes) *ret = NULL;
    if (status == CM_OK && bytes)
        status = decode_elements(constant, bytes, length, arena, diag, ret);
    if (status == CM_NO_MEMORY) arena_set_failed(arena);
    return status;
}

const struct constant *constant_loaded(const struct constant *constant,
                                       const struct constant_reader *reader,
                                       struct arena *arena) {
    const struct constant *value = NULL;
    int status = constant_load(constant, reader, arena, NULL, &value);
    return status < 0 ? NULL : value;
}

bool constant_equal(const struct constant *a, const struct constant *b) {
    if (a == b) return true;
    if (!a || !b || a->dtype != b->dtype || !shape_equal(&a->shape, &b->shape)) return false;
    if (!constant_has_numbers(a) || !constant_has_numbers(b)) return false;
    if (a->n_elements > CONSTANT_MAX_ELEMENTS) return false;
    for (int64_t i = 0; i < a->n_elements; i++)
        if (number_compare(constant_number_at(a, i), constant_number_at(b, i)) != 0)
            return false;
    return true;
}
