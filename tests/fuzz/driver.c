/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer, once on each given file and on each file below a given
 * folder. A failed check aborts the program, as under libFuzzer; the last path that it printed
 * is that of the input.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

/* The mutators refer to this function of libFuzzer. The driver never calls them. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
    (void)data;
    return size < most ? size : most;
}

static int run_file(const char *path, const struct stat *status) {
    FILE *file = fopen(path, "rb");
    const size_t size = (size_t)status->st_size;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    int result = 1;
    fprintf(stderr, "%s\n", path);
    if (file && bytes && fread(bytes, 1, size, file) == size)
        result = LLVMFuzzerTestOneInput(bytes, size);
    else
        perror(path);
    if (file) fclose(file);
    free(bytes);
    return result;
}

static int run(const char *path);

static int run_folder(const char *path) {
    int failed = 0;
    DIR *folder = opendir(path);
    if (!folder) return 1;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char child[4096];
        if (entry->d_name[0] == '.') continue;
        const int length = snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        failed |= length < 0 || (size_t)length >= sizeof(child) || run(child);
    }
    closedir(folder);
    return failed;
}

static int run(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) {
        perror(path);
        return 1;
    }
    return S_ISDIR(status.st_mode) ? run_folder(path) : run_file(path, &status);
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++) failed |= run(argv[i]);
    return failed;
}
