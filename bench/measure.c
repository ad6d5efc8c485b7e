/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command, discards its output, and prints:
 *
 *     <wall microseconds> <peak resident KiB> <exit status>
 *
 * A separate program, because a child inherits the peak memory of its parent at fork: started
 * from Python, every command would seem to need Python's memory.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void run_command(char **command) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) _exit(127);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs("usage: bench_measure COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    int64_t start = now_us();
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    if (child == 0) run_command(argv + 1);
    int status;
    if (waitpid(child, &status, 0) != child) {
        perror("waitpid");
        return 1;
    }
    int64_t wall = now_us() - start;
    struct rusage usage; /* of the only child */
    if (getrusage(RUSAGE_CHILDREN, &usage) != 0) {
        perror("getrusage");
        return 1;
    }
    printf("%lld %ld %d\n", (long long)wall, usage.ru_maxrss,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
