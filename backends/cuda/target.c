/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a target device to cuDNN as JSON. The members are undocumented; their names come
 * from error messages of cuDNN 9.19. On a GPU, cuDNN exports its own description, to
 * compare with (docs/gpu-verification.md). */
#include "backends/cuda/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/api.h"
#include "backends/cuda/refuse.h"

#define OLDEST_CUDNN 90800
#define MAX_BYTES    65536
#define KIB          INT64_C(1024)
#define MIB          (KIB * KIB)
#define GIB          (KIB * MIB)
#define DEFAULT_NAME "h200"

/* Limits by compute capability: table "Technical Specifications per Compute Capability" of the
 * CUDA C++ Programming Guide. */
struct capability {
    int version; /* compute capability times 100: 900 */
    int threads_per_sm;
    int blocks_per_sm;
    int shared_bytes_optin; /* per block that opts in to more than 48 KiB */
    int shared_bytes_reserved;
};

/* clang-format off */
static const struct capability capabilities[] = {
    /* version, threads, blocks, shared, reserved */
    { 750, 1024, 16,  65536,    0},
    { 800, 2048, 32, 166912, 1024},
    { 860, 1536, 16, 101376, 1024},
    { 890, 1536, 24, 101376, 1024},
    { 900, 2048, 32, 232448, 1024},
    {1000, 2048, 32, 232448, 1024},
    {1200, 1536, 24, 101376, 1024},
};

/* Properties by device, from NVIDIA's data sheets and architecture papers; clocks in kHz.
 * cuDNN's heuristics depend on capability, number of SMs and clocks. */
static const struct custom {
    const char *name;
    const char *full_name;
    int version;
    int n_sms;
    int sm_khz;
    int memory_khz;
    int64_t cache_bytes;
    int64_t memory_bytes;
    int pci_device;
} devices[] = {
    {"t4",         "Tesla T4",                750,  40, 1590000,  5001000,   4 * MIB,  16 * GIB, 0x1eb8},
    {"a100-40gb",  "NVIDIA A100-SXM4-40GB",   800, 108, 1410000,  1215000,  40 * MIB,  40 * GIB, 0x20b0},
    {"a100-80gb",  "NVIDIA A100-SXM4-80GB",   800, 108, 1410000,  1593000,  40 * MIB,  80 * GIB, 0x20b2},
    {"a10",        "NVIDIA A10",              860,  72, 1695000,  6251000,   6 * MIB,  24 * GIB, 0x2236},
    {"rtx-3090",   "NVIDIA GeForce RTX 3090", 860,  82, 1695000,  9751000,   6 * MIB,  24 * GIB, 0x2204},
    {"l4",         "NVIDIA L4",               890,  58, 2040000,  6251000,  48 * MIB,  24 * GIB, 0x27b8},
    {"l40s",       "NVIDIA L40S",             890, 142, 2520000,  9001000,  96 * MIB,  48 * GIB, 0x26b9},
    {"rtx-4090",   "NVIDIA GeForce RTX 4090", 890, 128, 2520000, 10501000,  72 * MIB,  24 * GIB, 0x2684},
    {"h100-pcie",  "NVIDIA H100 PCIe",        900, 114, 1755000,  1593000,  50 * MIB,  80 * GIB, 0x2331},
    {"h100-sxm",   "NVIDIA H100 80GB HBM3",   900, 132, 1980000,  2619000,  50 * MIB,  80 * GIB, 0x2330},
    {"h200",       "NVIDIA H200",             900, 132, 1980000,  3201000,  60 * MIB, 141 * GIB, 0x2335},
    {"b200",       "NVIDIA B200",            1000, 148, 1965000,  3996000, 126 * MIB, 180 * GIB, 0x2901},
    {"rtx-5090",   "NVIDIA GeForce RTX 5090",1200, 170, 2407000, 14001000,  96 * MIB,  32 * GIB, 0x2b85},
};
/* clang-format on */

static void describe(const struct custom *from, char *ret, size_t size) {
    const struct capability *all = capabilities;
    while (all->version != from->version) all++;
    (void)snprintf(
        ret, size,
        "{\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],"
        "\"regsPerBlock\":65536,\"multiProcessorCount\":%d,\"smClockRateKHz\":%d,"
        "\"memClockRateKHz\":%d,\"l2CacheSize\":%" PRId64 ",\"warpSize\":32,"
        "\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":%d,"
        "\"reservedSharedMemoryPerBlock\":%d,\"maxRegistersPerSM\":65536,\"pciDeviceId\":%d,"
        "\"maxCtasPerSM\":%d,\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":%d,"
        "\"isTccDriver\":0,\"supportCoopLaunch\":1,\"deviceVer\":%d,\"driverVer\":13000,"
        "\"deviceName\":\"%s\",\"cudaDeviceId\":0,\"totalGlobalMem\":%" PRId64 "}",
        from->n_sms, from->sm_khz, from->memory_khz, from->cache_bytes, all->shared_bytes_optin,
        all->shared_bytes_reserved, from->pci_device, all->blocks_per_sm, all->threads_per_sm,
        from->version, from->full_name, from->memory_bytes);
}

static int read_file(const char *path, char *ret, size_t size, struct cm_reason *reason) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "device file '%s' cannot be read", path);
    const size_t length = fread(ret, 1, size - 1, file);
    const bool whole = ferror(file) == 0 && feof(file) != 0;
    (void)fclose(file);
    ret[length] = '\0';
    if (whole && length > 0 && strlen(ret) == length) return CM_BACKEND_OK;
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "'%s' is not a device description", path);
}

static int find_text(const char *device, char *ret, size_t size, struct cm_reason *reason) {
    char names[CM_REASON_SIZE] = "";
    const char *ending = strrchr(device, '.');
    if (ending != NULL && ending != device && strcmp(ending, ".json") == 0)
        return read_file(device, ret, size, reason);
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (strcmp(devices[i].name, device) == 0) {
            describe(&devices[i], ret, size);
            return CM_BACKEND_OK;
        }
        cuda_append(names, sizeof(names), ", ", "%s", devices[i].name);
    }
    return cuda_refuse(reason, CM_BACKEND_REFUSED,
                       "unknown target '%s': expected %s, or a .json file", device, names);
}

/* Returns the value of a member in a text that cuDNN has accepted; NULL if missing. */
static const char *find_member(const char *text, const char *name) {
    const char *at = strstr(text, name);
    if (at == NULL) return NULL;
    at += strlen(name);
    at += strspn(at, " \t\r\n");
    if (*at != ':') return NULL;
    return at + 1 + strspn(at + 1, " \t\r\n");
}

static void read_names(const char *text, struct cuda_target *ret) {
    const char *version = find_member(text, "\"deviceVer\"");
    const char *name = find_member(text, "\"deviceName\"");
    if (version != NULL) ret->sm = (int)strtol(version, NULL, 10) / 10;
    if (ret->sm < 0 || ret->sm > 9999) ret->sm = 0;
    if (name == NULL || *name != '"') return;
    (void)snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name + 1, "\"\n"),
                   name + 1);
}

int target_make(const struct cuda_cudnn *cudnn, const char *device, struct cuda_target *ret,
                struct cm_reason *reason) {
    char words[CM_REASON_SIZE];
    const size_t version = cudnn->cudnnGetVersion();
    *ret = (struct cuda_target){.cudnn = cudnn};
    if (version < OLDEST_CUDNN)
        return cuda_refuse(
            reason, CM_BACKEND_REFUSED,
            "planning without a device requires cuDNN 9.8 or later, got %zu.%zu.%zu",
            version / 10000, version / 100 % 100, version % 100);
    char *text = calloc(1, MAX_BYTES);
    if (text == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    const int status =
        find_text(device != NULL ? device : DEFAULT_NAME, text, MAX_BYTES, reason);
    if (status != CM_BACKEND_OK) {
        free(text);
        return status;
    }
    cudnnStatus_t made = cudnn->cudnnBackendCreateDescriptor(
        CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &ret->descriptor);
    if (made != CUDNN_STATUS_SUCCESS) ret->descriptor = NULL;
    if (made == CUDNN_STATUS_SUCCESS)
        made = cudnn->cudnnBackendSetAttribute(ret->descriptor,
                                               CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                               CUDNN_TYPE_CHAR, (int64_t)strlen(text), text);
    if (made == CUDNN_STATUS_SUCCESS) made = cudnn->cudnnBackendFinalize(ret->descriptor);
    if (made == CUDNN_STATUS_SUCCESS) read_names(text, ret);
    free(text);
    if (made == CUDNN_STATUS_SUCCESS) return CM_BACKEND_OK;
    api_cudnn_error(cudnn, made, words, sizeof(words));
    target_drop(ret);
    return cuda_refuse(reason, CM_BACKEND_REFUSED, "cuDNN rejects the device description: %s",
                       words);
}

void target_drop(struct cuda_target *target) {
    if (target->descriptor != NULL)
        (void)target->cudnn->cudnnBackendDestroyDescriptor(target->descriptor);
    target->descriptor = NULL;
}
