/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the fuzzers: the entry points, named by libFuzzer, and the checks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cm_diagnostics;
struct cm_result;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t most,
                                 unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* Aborts if the property does not hold. */
#define FUZZ_REQUIRE(holds) fuzz_require((holds), #holds, __FILE__, __LINE__)
void fuzz_require(int holds, const char *what, const char *file, int line);

/* Aborts if `status` is not a valid status, or a failure without a message. */
void fuzz_require_status(int status, const struct cm_diagnostics *diagnostics);

/* Checks the invariants of a computed result: indices, sums, places in memory. */
void fuzz_require_result(const struct cm_result *result);

/* Aborts unless reading the result's JSON and writing it again gives the same bytes. */
void fuzz_require_round_trip(const struct cm_result *result);

/* Runs every writer of a result. */
void fuzz_write_all(const struct cm_result *result, uint8_t flags);

/* Checks the invariants of a comparison: no change between a result and itself, and modules
 * that account for the whole of a change. */
void fuzz_require_diff(const struct cm_result *one, const struct cm_result *two);

/* Aborts if an input took more than this many seconds of CPU time. */
#define FUZZ_MAX_SECONDS 20
double fuzz_now(void);
void fuzz_require_fast(double since);

/*
 * The options of an analysis are part of the input: a last field that ONNX does not define
 * (number 2000, FUZZ_OPTION_BYTES bytes). A model without the field is a valid input, too.
 */
#define FUZZ_OPTION_BYTES 12
#define FUZZ_OPTION_FIELD (3 + FUZZ_OPTION_BYTES)
/* Returns the bytes of that field, or NULL. */
const uint8_t *fuzz_option_bytes(const uint8_t *data, size_t size);
/* Its tag and length; FUZZ_OPTION_BYTES bytes follow. */
extern const uint8_t fuzz_option_head[3];
