/* SPDX-License-Identifier: Apache-2.0 */
/* Starts processes, reads their lines and reaps them. */
#include "api/campaign/workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

#include "support/arena.h"
#include "support/child.h"
#include "support/diag.h"
#include "support/text.h"

#define EXIT_NO_MEMORY 2

struct worker {
    pid_t pid; /* 0: free */
    int fd;
    size_t first;        /* first item of its task */
    size_t n;            /* items of its task */
    struct arena *arena; /* of `lines` */
    struct text lines;   /* output so far */
};

struct pool {
    const struct workers_job *job;
    struct cm_diagnostics *diag;
    size_t n_workers;
    struct worker *workers;
    struct pollfd *polled; /* by worker */
    size_t next;           /* first item that no task has taken */
    size_t n_running;
};

size_t workers_cores(void) {
#ifdef __linux__
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return (size_t)CPU_COUNT(&cores);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

_Noreturn static void run_child(const struct workers_job *job, const struct worker *worker,
                                int fd, pid_t parent) {
    child_end_with_parent(parent);
    FILE *out = fdopen(fd, "w");
    int status = out ? job->run(job->context, worker->first, worker->n, out) : CM_NO_MEMORY;
    if (out != NULL && fflush(out) != 0) status = CM_IO;
    _exit(status == CM_OK ? 0 : status == CM_NO_MEMORY ? EXIT_NO_MEMORY : 1);
}

static int start(struct pool *pool, struct worker *worker, size_t first, size_t n) {
    int fds[2];
    const pid_t self = getpid();
    *worker = (struct worker){.first = first, .n = n, .arena = arena_new("lines", 0)};
    if (worker->arena == NULL) return diag_no_memory(pool->diag);
    text_init(&worker->lines, worker->arena);
    if (pipe(fds) != 0) return diag_system(pool->diag, "create", "a pipe", errno);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[0]);
        run_child(pool->job, worker, fds[1], self);
    }
    const int error = errno;
    (void)close(fds[1]);
    if (pid < 0) {
        (void)close(fds[0]);
        return diag_system(pool->diag, "create", "a process", error);
    }
    worker->pid = pid;
    worker->fd = fds[0];
    pool->n_running++;
    return CM_OK;
}

static void free_worker(struct worker *worker) {
    if (worker->pid != 0) (void)close(worker->fd);
    arena_free(worker->arena);
    *worker = (struct worker){.pid = 0};
}

/* Returns true if the program ended the process: by a wrong access, abort, or its exit status.
 * Other signals come from outside: SIGKILL if the machine has no memory, SIGTERM from a user.
 */
static bool is_crash(int ended) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    if (!WIFSIGNALED(ended)) return WEXITSTATUS(ended) != EXIT_NO_MEMORY;
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (WTERMSIG(ended) == signals[i]) return true;
    return false;
}

/* Reaps a process that has closed its pipe. If it wrote too few lines, reports the first item
 * without a line as lost and starts another process for the items after it. */
static int finish(struct pool *pool, struct worker *worker) {
    const struct workers_job *job = pool->job;
    int ended = 0;
    size_t n = 0;
    while (waitpid(worker->pid, &ended, 0) < 0 && errno == EINTR) continue;
    pool->n_running--;
    if (worker->lines.failed) {
        free_worker(worker);
        return diag_no_memory(pool->diag);
    }
    /* `n` complete lines, `size` bytes, are finished items. */
    size_t size = worker->lines.length;
    while (size > 0 && worker->lines.data[size - 1] != '\n') size--;
    for (size_t i = 0; i < size; i++) n += worker->lines.data[i] == '\n';
    const size_t first = worker->first;
    const size_t n_items = worker->n;
    int status = CM_OK;
    if (n > 0) status = job->done(job->context, first, n, worker->lines.data, size);
    if (status == CM_OK && n < n_items) {
        const char *how =
            WIFSIGNALED(ended)
                ? arena_printf(worker->arena, "the process was killed by signal %d",
                               WTERMSIG(ended))
                : arena_printf(worker->arena, "the process exited with status %d",
                               WEXITSTATUS(ended));
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_NO_MEMORY) how = "out of memory";
        status = job->lost(job->context, first + n, how, is_crash(ended));
    }
    free_worker(worker);
    if (status == CM_OK && n + 1 < n_items)
        status = start(pool, worker, first + n + 1, n_items - n - 1);
    return status;
}

static int read_ready(struct pool *pool) {
    char buffer[65536];
    for (size_t i = 0; i < pool->n_workers; i++)
        pool->polled[i] = (struct pollfd){
            .fd = pool->workers[i].pid != 0 ? pool->workers[i].fd : -1, .events = POLLIN};
    if (poll(pool->polled, (nfds_t)pool->n_workers, -1) < 0)
        return errno == EINTR ? CM_OK : diag_system(pool->diag, "wait for", "a process", errno);
    for (size_t i = 0; i < pool->n_workers; i++) {
        if (pool->polled[i].revents == 0) continue;
        struct worker *worker = &pool->workers[i];
        const ssize_t got = read(worker->fd, buffer, sizeof(buffer));
        if (got > 0) text_append_n(&worker->lines, buffer, (size_t)got);
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        if (got < 0) return diag_system(pool->diag, "read", "results of a process", errno);
        const int status = finish(pool, worker);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int run_pool(struct pool *pool) {
    int status = CM_OK;
    while (status == CM_OK && (pool->next < pool->job->n || pool->n_running > 0)) {
        for (size_t i = 0; i < pool->n_workers && pool->next < pool->job->n; i++) {
            if (pool->workers[i].pid != 0) continue;
            const size_t n = pool->job->task(pool->job->context, pool->next);
            status = start(pool, &pool->workers[i], pool->next, n);
            if (status < 0) return status;
            pool->next += n;
        }
        status = read_ready(pool);
    }
    return status;
}

int workers_run(const struct workers_job *job, size_t jobs, struct cm_diagnostics *diag) {
    struct arena *arena = arena_new("pool", 0);
    if (arena == NULL) return diag_no_memory(diag);
    struct pool pool = {
        .job = job,
        .diag = diag,
        .n_workers = jobs,
        .workers = arena_array(arena, jobs, sizeof(struct worker)),
        .polled = arena_array(arena, jobs, sizeof(struct pollfd)),
    };
    int status = arena_failed(arena) ? diag_no_memory(diag) : run_pool(&pool);
    for (size_t i = 0; pool.workers != NULL && i < jobs; i++) {
        struct worker *worker = &pool.workers[i];
        if (worker->pid != 0) {
            (void)kill(worker->pid, SIGKILL);
            (void)waitpid(worker->pid, NULL, 0);
        }
        free_worker(worker);
    }
    return arena_end(arena, status);
}
