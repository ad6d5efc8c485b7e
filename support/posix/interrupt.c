/* SPDX-License-Identifier: Apache-2.0 */
/* See interrupt.h. A blocked signal makes a descriptor readable, on Linux only. */
#include "support/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/signalfd.h>
#endif

struct interrupt {
    int stop;        /* readable to end */
    int signals;     /* of Ctrl-C and SIGPIPE, which `stop` observes */
    sigset_t before; /* signal mask to restore */
};

/* Opens both descriptors; returns false if the system lacks them. */
static bool open_stop(struct interrupt *interrupt, const sigset_t *set, bool has_reader) {
#ifdef __linux__
    struct epoll_event readable = {.events = EPOLLIN};
    struct epoll_event closed = {.events = 0}; /* errors and hang-ups are always reported */
    interrupt->signals = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
    interrupt->stop = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ctl(interrupt->stop, EPOLL_CTL_ADD, interrupt->signals, &readable) == 0) {
        /* fails for a file, which needs no reader */
        if (has_reader) (void)epoll_ctl(interrupt->stop, EPOLL_CTL_ADD, STDOUT_FILENO, &closed);
        return true;
    }
    if (interrupt->stop >= 0) (void)close(interrupt->stop);
    if (interrupt->signals >= 0) (void)close(interrupt->signals);
#else
    (void)interrupt;
    (void)set;
    (void)has_reader;
#endif
    return false;
}

struct interrupt *interrupt_begin(bool has_reader) {
    struct sigaction action;
    sigset_t set;
    struct interrupt *interrupt = calloc(1, sizeof *interrupt);
    if (interrupt == NULL) return NULL;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    if (sigaction(SIGINT, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        (void)sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, &interrupt->before) == 0) {
        if (open_stop(interrupt, &set, has_reader)) return interrupt;
        (void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
    }
    free(interrupt);
    return NULL;
}

const int *interrupt_descriptor(const struct interrupt *interrupt) {
    return &interrupt->stop;
}

bool interrupt_is_pending(const struct interrupt *interrupt) {
    struct pollfd stop = {.fd = interrupt->stop, .events = POLLIN};
    return poll(&stop, 1, 0) > 0;
}

bool interrupt_end(struct interrupt *interrupt) {
    sigset_t pending;
    int number = 0;
    if (interrupt == NULL) return false;
    const bool ret = interrupt_is_pending(interrupt);
    (void)sigpending(&pending);
    const bool is_pressed = sigismember(&pending, SIGINT) == 1;
    (void)sigemptyset(&pending);
    (void)sigaddset(&pending, SIGINT);
    /* takes the pending SIGINT: unblocking it would end the program */
    if (is_pressed) (void)sigwait(&pending, &number);
    (void)close(interrupt->stop);
    (void)close(interrupt->signals);
    (void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
    free(interrupt);
    return ret;
}
