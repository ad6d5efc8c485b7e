/* SPDX-License-Identifier: Apache-2.0 */
/* Messages read in place: fields in any order, repeated, unknown, and in several pieces.
 */
#include "frontend/wire/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "encode.h"
#include "support/arena.h"

static int make(void **state) {
    *state = arena_new("test", 0);
    return *state == NULL;
}

static int end(void **state) {
    arena_free(*state);
    return 0;
}

static struct span span_of(struct bytes bytes) {
    return (struct span){bytes.data, bytes.data + bytes.size};
}

/* Returns the strings of the field, each followed by a comma. */
static const char *texts_of(struct arena *arena, const struct message *message,
                            uint32_t number) {
    struct fields_walk walk = message_walk(message, number);
    const char *texts = "";
    for (struct span text; fields_next(&walk, &text);)
        texts =
            arena_printf(arena, "%s%.*s,", texts, (int)span_size(text), (const char *)text.at);
    return texts;
}

/* Repeated fields may be interleaved; the last occurrence of a singular field counts. */
static void accepts_fields_in_any_order(void **state) {
    struct bytes node = bytes_new(*state);
    struct message message;
    put_text(&node, NODE_NAME, "first name");
    put_text(&node, NODE_OUTPUT, "y");
    put_text(&node, NODE_INPUT, "a");
    put_number(&node, 6, 3);
    put_text(&node, 99, "unknown");
    put_number(&node, NODE_INPUT, 7); /* wrong wire type */
    put_text(&node, NODE_INPUT, "");
    put_text(&node, NODE_NAME, "last name");
    put_text(&node, NODE_INPUT, "c");
    message_index(span_of(node), &message);
    assert_string_equal(texts_of(*state, &message, NODE_INPUT), "a,,c,");
    assert_string_equal(texts_of(*state, &message, NODE_OUTPUT), "y,");
    assert_string_equal(texts_of(*state, &message, NODE_ATTRIBUTE), "");
    assert_int_equal(message.of[NODE_INPUT].n, 3);
    assert_true(span_equal(message_text(&message, NODE_NAME), "last name"));
    assert_true(span_equal(message_text(&message, NODE_OUTPUT), "y"));
    assert_true(span_equal(message_text(&message, NODE_DOMAIN), ""));
    assert_int_equal(message.ordinal, 0);
}

static void reads_the_private_ordinal(void **state) {
    struct bytes graph = bytes_new(*state);
    struct message message;
    put_number(&graph, FIELD_ORDINAL, 70000);
    message_index(span_of(graph), &message);
    assert_int_equal(message.ordinal, 70000);
}

/* skim stores the main graph in pieces. */
static void continues_lists_in_the_next_piece(void **state) {
    struct bytes front = bytes_new(*state);
    struct bytes back = bytes_new(*state);
    struct message graph = {.ordinal = 0};
    put_text(&front, GRAPH_NAME, "main");
    put_text(&front, GRAPH_NODE, "one");
    put_text(&back, GRAPH_NODE, "two");
    put_text(&back, GRAPH_INPUT, "x");
    put_text(&back, GRAPH_NODE, "three");
    const struct fields second = {back.data, back.size, NULL};
    const struct fields first = {front.data, front.size, &second};
    graph.of[GRAPH_NAME] = (struct fields_of){&first, front.data, 1};
    graph.of[GRAPH_NODE] = (struct fields_of){&first, front.data + strlen("..main"), 3};
    graph.of[GRAPH_INPUT] = (struct fields_of){&second, back.data, 1};
    assert_string_equal(texts_of(*state, &graph, GRAPH_NODE), "one,two,three,");
    assert_string_equal(texts_of(*state, &graph, GRAPH_INPUT), "x,");
    assert_true(span_equal(message_text(&graph, GRAPH_NAME), "main"));
}

static void requires_key_and_value_of_an_entry(void **state) {
    struct bytes bytes = bytes_new(*state);
    struct entry entry;
    put_text(&bytes, ENTRY_VALUE, "old");
    assert_false(message_entry(span_of(bytes), &entry));
    put_text(&bytes, ENTRY_KEY, "key");
    put_text(&bytes, ENTRY_VALUE, "new");
    assert_true(message_entry(span_of(bytes), &entry));
    assert_true(span_equal(entry.key, "key"));
    assert_true(span_equal(entry.value, "new"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_fields_in_any_order),
        cmocka_unit_test(reads_the_private_ordinal),
        cmocka_unit_test(continues_lists_in_the_next_piece),
        cmocka_unit_test(requires_key_and_value_of_an_entry),
    };
    return cmocka_run_group_tests(tests, make, end);
}
