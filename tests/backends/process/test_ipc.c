/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of messages between processes: a truncated or invalid one is never accepted as a
 * result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/process/ipc.h"

struct pair {
    int sockets[2];
};

static int open_pair(void **state) {
    struct pair *pair = calloc(1, sizeof(*pair));
    if (pair == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, pair->sockets) != 0) return 1;
    *state = pair;
    return 0;
}

static int close_pair(void **state) {
    struct pair *pair = *state;
    close(pair->sockets[0]);
    close(pair->sockets[1]);
    free(pair);
    return 0;
}

static void sends_and_receives(void **state) {
    const struct pair *pair = *state;
    const char sent[] = "a result";
    char got[sizeof(sent)] = "";
    assert_int_equal(ipc_send(pair->sockets[0], IPC_RESULT, 7, sent, sizeof(sent)), IPC_OK);
    assert_int_equal(ipc_receive(pair->sockets[1], -1, IPC_RESULT, 7, got, sizeof(got), 5),
                     IPC_OK);
    assert_string_equal(got, sent);
}

static void rejects_unexpected_message(void **state) {
    static const struct {
        enum ipc_kind kind;
        uint64_t sequence;
        size_t size;
    } wants[] = {
        {IPC_OPENED, 7, 8}, /* another kind */
        {IPC_RESULT, 8, 8}, /* the answer to another request */
        {IPC_RESULT, 7, 9}, /* another size */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
        void *own = NULL;
        char got[16];
        assert_int_equal(open_pair(&own), 0);
        const struct pair *pair = own;
        assert_int_equal(ipc_send(pair->sockets[0], IPC_RESULT, 7, "1234567", 8), IPC_OK);
        assert_int_equal(ipc_receive(pair->sockets[1], -1, wants[i].kind, wants[i].sequence,
                                     got, wants[i].size, 5),
                         IPC_BROKEN);
        close_pair(&own);
    }
}

static void rejects_random_bytes(void **state) {
    const struct pair *pair = *state;
    char noise[64];
    char got[8];
    memset(noise, 'x', sizeof(noise));
    assert_int_equal(write(pair->sockets[0], noise, sizeof(noise)), sizeof(noise));
    assert_int_equal(ipc_receive(pair->sockets[1], -1, IPC_RESULT, 1, got, 8, 5), IPC_BROKEN);
}

static void detects_flipped_bit(void **state) {
    const struct pair *pair = *state;
    char frame[256];
    char got[8];
    assert_int_equal(ipc_send(pair->sockets[0], IPC_RESULT, 1, "1234567", 8), IPC_OK);
    const ssize_t n = read(pair->sockets[1], frame, sizeof(frame));
    assert_true(n > 8);
    frame[n - 3] ^= 1;
    assert_int_equal(write(pair->sockets[0], frame, (size_t)n), n);
    assert_int_equal(ipc_receive(pair->sockets[1], -1, IPC_RESULT, 1, got, 8, 5), IPC_BROKEN);
}

static void times_out_without_message(void **state) {
    const struct pair *pair = *state;
    char got[8];
    assert_int_equal(ipc_receive(pair->sockets[1], -1, IPC_RESULT, 1, got, 8, 0.02),
                     IPC_TIMEOUT);
    /* Half a message is not a message. */
    assert_int_equal(write(pair->sockets[0], "cm", 2), 2);
    assert_int_equal(ipc_receive(pair->sockets[1], -1, IPC_RESULT, 1, got, 8, 0.02),
                     IPC_TIMEOUT);
}

static void reports_closed_end_without_signal(void **state) {
    struct pair *pair = *state;
    char got[8];
    close(pair->sockets[1]);
    assert_int_equal(ipc_send(pair->sockets[0], IPC_RESULT, 1, "1234567", 8), IPC_CLOSED);
    assert_int_equal(ipc_receive(pair->sockets[0], -1, IPC_RESULT, 1, got, 8, 5), IPC_CLOSED);
    assert_true(socketpair(AF_UNIX, SOCK_STREAM, 0, pair->sockets) == 0);
}

static void sends_more_than_socket_buffer(void **state) {
    const struct pair *pair = *state;
    const size_t size = (size_t)4 << 20;
    char *sent = malloc(size);
    char *got = malloc(size);
    assert_true(sent != NULL && got != NULL);
    for (size_t i = 0; i < size; i++) sent[i] = (char)(i * 7);
    const pid_t sender = fork();
    if (sender == 0)
        _exit(ipc_send(pair->sockets[0], IPC_RESULT, 1, sent, size) == IPC_OK ? 0 : 1);
    assert_int_equal(ipc_receive(pair->sockets[1], -1, IPC_RESULT, 1, got, size, 30), IPC_OK);
    assert_memory_equal(sent, got, size);
    assert_int_equal(waitpid(sender, NULL, 0), sender);
    free(sent);
    free(got);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sends_and_receives, open_pair, close_pair),
        cmocka_unit_test(rejects_unexpected_message),
        cmocka_unit_test_setup_teardown(rejects_random_bytes, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(detects_flipped_bit, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(times_out_without_message, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(reports_closed_end_without_signal, open_pair,
                                        close_pair),
        cmocka_unit_test_setup_teardown(sends_more_than_socket_buffer, open_pair, close_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
