/* Encrypted fields: what is sealed shows nothing, opens where it was sealed and nowhere else, and
 * no change of it goes unnoticed; and the file of keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "core/base64.h"
#include "core/box.h"
#include "core/codec_decode.h"
#include "core/codec_encode.h"
#include "failing_malloc.h"

CULEX_SEALS;

static long calls_left = -1; /* the allocation after so many more fails; -1 for none */

bool malloc_fails(void)
{
    return calls_left >= 0 && calls_left-- == 0;
}

/* --- keys ----------------------------------------------------------------------------------- */

#define KEY_A  "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define MARK_A "\xcf\xa1\xdb\x33"
#define ZERO   "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define KEY_B  "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="

static culex_status keys_read(const char *text, struct culex_keys *keys, culex_error *error)
{
    return culex__keys_read(text, strlen(text), keys, error);
}

static void test_keys_of_a_file(void **state)
{
    (void)state;
    struct culex_keys keys;
    assert_int_equal(
        keys_read("# rotated in May\n\n  2026-05\t" KEY_A " \r\nold.1_x " KEY_B, &keys, NULL),
        CULEX_OK);
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.of[0].id, "2026-05");
    assert_int_equal(keys.of[0].bytes[31], 31);
    assert_memory_equal(keys.of[0].mark, MARK_A, 4);
    assert_ptr_equal(culex__keys_find(&keys, "old.1_x and more", 7), &keys.of[1]);
    assert_null(culex__keys_find(&keys, "old.1_x", 6));
    assert_null(culex__keys_find(&keys, "", 0));
}

static void test_files_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", "it has no key"},
        {"# nothing\n", "it has no key"},
        {"a " KEY_A "\na " KEY_B, "line 2: an id that an earlier line has"},
        {KEY_A, "line 1: an id is 1 to 32 letters, digits, '_', '.' and '-'"},
        {"a/b " KEY_A, "line 1: an id is 1 to 32 letters, digits, '_', '.' and '-'"},
        {"x23456789012345678901234567890123 " KEY_A,
         "line 1: an id is 1 to 32 letters, digits, '_', '.' and '-'"},
        {"a", "line 1: behind the id stands no key of 32 bytes in base64"},
        {"a AAEC", "line 1: behind the id stands no key of 32 bytes in base64"},
        {"\n\na " KEY_A "x", "line 3: behind the id stands no key of 32 bytes in base64"},
        {"a AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g",
         "line 1: behind the id stands no key of 32 bytes in base64"},
        {"a AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
         "line 1: behind the id stands no key of 32 bytes in base64"},
        {"a " ZERO, "line 1: all 32 bytes of the key are 0: make one of random bytes"},
        {"a " KEY_A " " KEY_B, "line 1: behind the id stands no key of 32 bytes in base64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_keys keys;
        culex_error error = {0};
        assert_int_equal(keys_read(rows[i].text, &keys, &error), CULEX_EUSAGE);
        assert_string_equal(error.text, rows[i].said);
    }
}

static void test_every_cut_and_byte_of_a_file(void **state)
{
    (void)state;
    char text[] = "key " KEY_A;
    struct culex_keys keys;
    for (size_t len = 0; len < strlen(text); len++)
        assert_int_equal(culex__keys_read(text, len, &keys, NULL), CULEX_EUSAGE);
    for (size_t i = 0; i < strlen(text); i++) {
        text[i] = (char)(text[i] ^ 0x80);
        assert_int_equal(keys_read(text, &keys, NULL), CULEX_EUSAGE);
        text[i] = (char)(text[i] ^ 0x80);
    }
    assert_int_equal(keys_read(text, &keys, NULL), CULEX_OK);
}

static void test_no_more_keys_than_there_is_room_for(void **state)
{
    (void)state;
    static char text[70 * 64];
    struct culex_keys keys;
    culex_error error = {0};
    size_t len = 0;
    for (int i = 0; i < 65; i++)
        len += (size_t)sprintf(text + len, "k%d " KEY_A "\n", i);
    assert_int_equal(keys_read(text, &keys, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "line 65: more than 64 keys");
    *strstr(text, "k64") = '\0';
    assert_int_equal(keys_read(text, &keys, NULL), CULEX_OK);
}

/* --- params --------------------------------------------------------------------------------- */

struct inner {
    const char *name;
};

struct params {
    const char *open;
    const char *iban;
    uint64_t cents;
    bool has_due;
    culex_time due;
    struct inner payee;
    const char *const *notes;
    size_t notes_len;
    uint8_t digits[3];
    culex_bytes mandate;
};

static const culex_field inner_fields[] = {
    {.name = "name", .wire = "name", .kind = CULEX_KIND_STRING}};
static const culex_struct_type inner_type = {"inner", sizeof(struct inner), inner_fields, 1};

#define SEALED (CULEX_FIELD_SECRET | CULEX_FIELD_ENCRYPTED)
static const culex_field fields[] = {
    {.name = "open",
     .wire = "open",
     .kind = CULEX_KIND_STRING,
     .offset = offsetof(struct params, open)},
    {.name = "iban",
     .wire = "account",
     .kind = CULEX_KIND_STRING,
     .flags = SEALED | CULEX_FIELD_REQUIRED,
     .offset = offsetof(struct params, iban)},
    {.name = "cents",
     .wire = "cents",
     .kind = CULEX_KIND_UINT64,
     .flags = SEALED,
     .offset = offsetof(struct params, cents)},
    {.name = "due",
     .wire = "due",
     .kind = CULEX_KIND_TIMESTAMP,
     .flags = SEALED | CULEX_FIELD_OPTIONAL,
     .offset = offsetof(struct params, due),
     .has_offset = offsetof(struct params, has_due)},
    {.name = "payee",
     .wire = "payee",
     .kind = CULEX_KIND_STRUCT,
     .flags = SEALED,
     .offset = offsetof(struct params, payee),
     .struct_type = &inner_type},
    {.name = "notes",
     .wire = "notes",
     .kind = CULEX_KIND_STRING,
     .shape = CULEX_SHAPE_LIST,
     .flags = SEALED,
     .offset = offsetof(struct params, notes),
     .len_offset = offsetof(struct params, notes_len),
     .count = 4},
    {.name = "digits",
     .wire = "digits",
     .kind = CULEX_KIND_UINT8,
     .shape = CULEX_SHAPE_ARRAY,
     .flags = SEALED | CULEX_FIELD_MUST_UNDERSTAND,
     .offset = offsetof(struct params, digits),
     .count = 3},
    {.name = "mandate",
     .wire = "mandate",
     .kind = CULEX_KIND_BYTES,
     .flags = SEALED,
     .offset = offsetof(struct params, mandate)},
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };
static const culex_struct_type type = {"bank.pay", sizeof(struct params), fields, FIELD_COUNT};

static const char *const notes[] = {"first of the notes", "second of \"them\""};
static const struct params bill = {.open = "for everybody",
                                   .iban = "IT60X0542811101",
                                   .cents = 1234567890123,
                                   .has_due = true,
                                   .due = 86400 * INT64_C(1000000000),
                                   .payee = {"Zanzara"},
                                   .notes = notes,
                                   .notes_len = 2,
                                   .digits = {7, 77, 177},
                                   .mandate = {(const unsigned char *)"signed here", 11}};

/* Counts, so that what is sealed twice is not the same twice. */
static void count_up(void *self, void *ret_bytes, size_t len)
{
    memset(ret_bytes, (*(unsigned char *)self)++, len);
}

static unsigned char drawn;
static struct culex_keys ring;
static struct culex__sealing sealing = {.keys = &ring,
                                        .job = "bank.pay",
                                        .part = CULEX_SEALED_PARAMS,
                                        .random = count_up,
                                        .random_self = &drawn};

static int ring_fill(void **state)
{
    (void)state;
    return keys_read("a " KEY_A "\nb " KEY_B, &ring, NULL);
}

static culex_buf sealed_text(void)
{
    culex_buf text;
    culex_buf_init(&text, 0);
    assert_int_equal(culex__encode_sealed(&sealing, &type, &bill, &text, NULL), CULEX_OK);
    return text;
}

static culex_status text_open(const struct culex__sealing *by, const void *text, size_t len,
                              struct params *ret_params, culex_error *error)
{
    const void *value = NULL;
    culex_arena *arena = culex_arena_create();
    culex_status status = culex__decode_sealed(by, &type, arena, text, len, &value, error);
    if (status == CULEX_OK) {
        const struct params *read = value;
        assert_string_equal(read->iban, bill.iban);
        assert_string_equal(read->payee.name, bill.payee.name);
        assert_int_equal(read->notes_len, 2);
        assert_string_equal(read->notes[1], notes[1]);
        assert_memory_equal(read->mandate.data, bill.mandate.data, 11);
        if (ret_params != NULL)
            *ret_params = *read;
    }
    culex_arena_free(arena);
    return status;
}

static void test_what_is_sealed_comes_back(void **state)
{
    (void)state;
    static const char *const said[] = {"IT60", "1234567890123", "1970-01-02", "Zanzara",  "of the",
                                       "177",  "c2lnbmVk",      "first",      "\"name\"", "signed"};
    struct params read;
    culex_buf text = sealed_text(), again = sealed_text();
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        assert_null(strstr(text.data, said[i]));
    assert_non_null(
        strstr(text.data, "{\"open\":\"for everybody\",\"account\":{\"!culex.sealed\":\"AQFh"));
    assert_non_null(strstr(text.data, ",\"!digits\":{\"!culex.sealed\":\""));
    assert_string_not_equal(text.data, again.data);
    assert_int_equal(text_open(&sealing, text.data, text.len, &read, NULL), CULEX_OK);
    assert_int_equal(read.cents, bill.cents);
    assert_true(read.has_due && read.due == bill.due);
    assert_memory_equal(read.digits, bill.digits, 3);
    culex_buf_release(&text);
    culex_buf_release(&again);
}

static void test_what_is_absent_is_not_sealed(void **state)
{
    (void)state;
    struct params bare = bill;
    bare.has_due = false;
    bare.due = 0;
    bare.notes_len = 0;
    culex_buf text;
    culex_buf_init(&text, 0);
    assert_int_equal(culex__encode_sealed(&sealing, &type, &bare, &text, NULL), CULEX_OK);
    assert_null(strstr(text.data, "due"));
    assert_null(strstr(text.data, "notes"));
    culex_buf_release(&text);
}

/* From the brace before a box to that behind it. */
static void bits_flip(culex_buf *text, char *at, const char *end)
{
    for (; at < end; at++) {
        for (int bit = 0; bit < 8; bit++) {
            culex_error error = {0};
            *at = (char)(*at ^ 1 << bit);
            assert_int_not_equal(text_open(&sealing, text->data, text->len, NULL, &error),
                                 CULEX_OK);
            assert_null(strstr(error.text, "IT60"));
            *at = (char)(*at ^ 1 << bit);
        }
    }
}

static void test_every_bit_and_cut_of_a_payload(void **state)
{
    (void)state;
    static const char head[] = "{\"" CULEX_BOX_NAME;
    culex_buf text = sealed_text();
    size_t boxes = 0;
    for (size_t len = 0; len < text.len; len++)
        assert_int_not_equal(text_open(&sealing, text.data, len, NULL, NULL), CULEX_OK);
    for (char *at = text.data; (at = strstr(at, head)) != NULL; boxes++) {
        char *end = strchr(at, '}') + 1;
        bits_flip(&text, at, end);
        at = end;
    }
    assert_int_equal(boxes, FIELD_COUNT - 1);
    culex_buf_release(&text);
}

/* --- boxes ---------------------------------------------------------------------------------- */

enum { BOX_MAX = 256 };
static const char told[] = "\"IT60X0542811101\"";

static size_t box_make(unsigned char box[BOX_MAX])
{
    size_t size = culex__box_size(&sealing, strlen(told));
    assert_true(size <= BOX_MAX);
    assert_int_equal(culex__box_seal(&sealing, "account", told, strlen(told), box, NULL), CULEX_OK);
    return size;
}

static culex_status box_open(const struct culex__sealing *by, const char *field,
                             const unsigned char *box, size_t len, culex_error *error)
{
    unsigned char text[BOX_MAX] = {0};
    unsigned char *exact = malloc(len > 0 ? len : 1); /* a sanitizer sees who reads behind it */
    size_t text_len = 0;
    memcpy(exact, box, len);
    culex_status status = culex__box_open(by, field, exact, len, text, &text_len, error);
    free(exact);
    if (status == CULEX_OK) {
        assert_int_equal(text_len, strlen(told));
        assert_memory_equal(text, told, text_len);
    }
    return status;
}

static void test_every_byte_and_cut_of_a_box(void **state)
{
    (void)state;
    unsigned char box[BOX_MAX];
    size_t size = box_make(box);
    assert_int_equal(box_open(&sealing, "account", box, size, NULL), CULEX_OK);
    for (size_t len = 0; len < size; len++)
        assert_int_equal(box_open(&sealing, "account", box, len, NULL), CULEX_EDECODE);
    for (size_t i = 0; i < size; i++) {
        for (unsigned value = 0; value < 256; value++) {
            unsigned char before = box[i];
            box[i] = (unsigned char)value;
            culex_error error = {0};
            culex_status status = box_open(&sealing, "account", box, size, &error);
            bool is_id = i == 2 && culex__key_id_is_good((const char *)&box[i], 1);
            bool is_mark = i >= 3 && i < 3 + CULEX_KEY_MARK_SIZE;
            if (value == before)
                assert_int_equal(status, CULEX_OK);
            else if (i == 0)
                assert_int_equal(status, value > 1 ? CULEX_EUNDERSTAND : CULEX_EDECODE);
            else if (is_mark)
                assert_int_equal(status, CULEX_ENOKEY);
            else
                assert_true(status == CULEX_EDECODE ||
                            ((i == 1 || is_id) && status == CULEX_ENOKEY));
            if (i == 0 && value == 0)
                assert_string_equal(error.text, "what is sealed there is damaged");
            box[i] = before;
        }
    }
}

static void test_a_box_opens_where_it_was_sealed(void **state)
{
    (void)state;
    unsigned char box[BOX_MAX];
    size_t size = box_make(box);
    culex_error error = {0};
    struct culex__sealing other = sealing;
    assert_int_equal(box_open(&sealing, "cents", box, size, &error), CULEX_EDECODE);
    assert_string_equal(error.text, "sealed by key 'a': damaged, or sealed for another field than "
                                    "this one of the params of bank.pay");
    other.job = "bank.payb";
    assert_int_equal(box_open(&other, "account", box, size, NULL), CULEX_EDECODE);
    other = sealing;
    other.part = CULEX_SEALED_RESULT;
    assert_int_equal(box_open(&other, "account", box, size, NULL), CULEX_EDECODE);
    /* What stands behind one name does not pass for the beginning of the next. */
    other = sealing;
    other.job = "bank.pay\0params";
    assert_int_equal(box_open(&other, "account", box, size, NULL), CULEX_OK);
}

/* Two ids of one key: which of them has sealed is a part of what is sealed. */
static void test_a_box_keeps_the_id_of_its_key(void **state)
{
    (void)state;
    unsigned char box[BOX_MAX];
    size_t size = box_make(box);
    struct culex_keys keys;
    struct culex__sealing by = sealing;
    by.keys = &keys;
    assert_int_equal(keys_read("a " KEY_A "\nc " KEY_A, &keys, NULL), CULEX_OK);
    assert_int_equal(box_open(&by, "account", box, size, NULL), CULEX_OK);
    box[2] = 'c';
    assert_int_equal(box_open(&by, "account", box, size, NULL), CULEX_EDECODE);
}

static void test_keys_come_and_go(void **state)
{
    (void)state;
    unsigned char box[BOX_MAX];
    size_t size = box_make(box);
    culex_error error = {0};
    struct culex_keys keys;
    struct culex__sealing by = sealing;
    by.keys = &keys;
    assert_int_equal(keys_read("b " KEY_B "\na " KEY_A, &keys, NULL), CULEX_OK);
    assert_int_equal(box_open(&by, "account", box, size, NULL), CULEX_OK);
    assert_int_equal(keys_read("b " KEY_B, &keys, NULL), CULEX_OK);
    assert_int_equal(box_open(&by, "account", box, size, &error), CULEX_ENOKEY);
    assert_string_equal(error.text, "sealed by key 'a', which is not among the keys");
}

/* As on a host where somebody has made a key of his own. */
static void test_another_key_of_the_id_is_a_missing_one(void **state)
{
    (void)state;
    unsigned char box[BOX_MAX];
    size_t size = box_make(box);
    culex_error error = {0};
    struct culex_keys keys;
    struct culex__sealing by = sealing;
    by.keys = &keys;
    assert_int_equal(keys_read("a " KEY_B, &keys, NULL), CULEX_OK);
    assert_int_equal(box_open(&by, "account", box, size, &error), CULEX_ENOKEY);
    assert_string_equal(error.text,
                        "sealed by another key of the id 'a' than the one among the keys");
    /* The mark is no more than a hint: who puts the right one in opens nothing. */
    memcpy(box + 3, keys.of[0].mark, CULEX_KEY_MARK_SIZE);
    assert_int_equal(box_open(&by, "account", box, size, NULL), CULEX_EDECODE);
    /* And it is a part of what is sealed. */
    size = box_make(box);
    memset(box + 3, 7, CULEX_KEY_MARK_SIZE);
    memset(ring.of[0].mark, 7, CULEX_KEY_MARK_SIZE);
    assert_int_equal(box_open(&sealing, "account", box, size, NULL), CULEX_EDECODE);
    assert_int_equal(ring_fill(NULL), 0);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void test_nothing_is_sealed_or_opened_without_keys(void **state)
{
    (void)state;
    struct culex__sealing none = sealing;
    culex_error error = {0};
    const void *value = NULL;
    culex_arena *arena = culex_arena_create();
    culex_buf text = sealed_text(), made;
    none.keys = NULL;
    culex_buf_init(&made, 0);
    assert_int_equal(culex__encode_sealed(&none, &type, &bill, &made, &error), CULEX_ENOKEY);
    assert_int_equal(made.len, 0);
    assert_string_equal(error.field, "iban");
    assert_string_equal(error.text, "iban: it is encrypted, and there is no key: name the file of "
                                    "keys in CULEX_KEYS, in `keys` of the options, or of a worker "
                                    "by --keys");
    assert_int_equal(culex_encode(&type, &bill, &made, &error), CULEX_ENOKEY);
    assert_int_equal(text_open(&none, text.data, text.len, NULL, &error), CULEX_ENOKEY);
    assert_int_equal(culex_decode(&type, arena, text.data, text.len, &value, &error), CULEX_ENOKEY);
    assert_string_equal(error.text,
                        "iban: it is encrypted, and this call has no keys: a client and "
                        "a worker's handlers have");
    culex_buf_release(&text);
    culex_buf_release(&made);
    culex_arena_free(arena);
}

/* Whoever can write into the store puts no value of his own into a sealed field. */
static void test_values_that_are_not_sealed_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"account\":\"IT60X\"}",
        "{\"account\":7}",
        "{\"account\":[]}",
        "{\"account\":{}}",
        "{\"account\":{\"!culex.sealed\":7}}",
        "{\"account\":{\"culex.sealed\":\"AAAA\"}}",
        "{\"account\":{\"!culex.sealed\":\"AAAA\",\"more\":1}}",
        "{\"account\":{\"!culex.sealed\":\"\\u0041AAA\"}}",
        "{\"account\":{\"!culex.sealed\":\"AAA\"}}",
        "{\"account\":{\"!culex.sealed\":\"\"}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        culex_error error = {0};
        assert_int_equal(text_open(&sealing, texts[i], strlen(texts[i]), NULL, &error),
                         CULEX_EDECODE);
        assert_string_equal(error.field, "iban");
    }
    assert_int_equal(text_open(&sealing, "{\"account\":null}", 16, NULL, NULL), CULEX_EDECODE);
}

/* Whoever has a key may have made it, with another program. */
static void test_text_behind_a_sealed_value(void **state)
{
    (void)state;
    static const char *const rows[] = {"\"IT60X0542811101\" 7", "\"IT60X0542811101\",", "", "{",
                                       "7"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char box[BOX_MAX];
        char text[2 * BOX_MAX] = "{\"account\":{\"!culex.sealed\":\"";
        size_t at = strlen(text), size = culex__box_size(&sealing, strlen(rows[i]));
        culex_error error = {0};
        assert_int_equal(culex__box_seal(&sealing, "account", rows[i], strlen(rows[i]), box, NULL),
                         CULEX_OK);
        culex__base64_format(box, size, text + at);
        strcpy(text + at + culex__base64_size(size), "\"}}");
        assert_int_equal(text_open(&sealing, text, strlen(text), NULL, &error), CULEX_EDECODE);
        assert_string_equal(error.field, "iban");
        assert_null(strstr(error.text, "IT60"));
    }
}

struct node {
    const struct node *next;
    size_t next_len;
};
static const culex_struct_type node_type;
static const culex_field node_fields[] = {{.name = "next",
                                           .wire = "next",
                                           .kind = CULEX_KIND_STRUCT,
                                           .shape = CULEX_SHAPE_LIST,
                                           .offset = offsetof(struct node, next),
                                           .len_offset = offsetof(struct node, next_len),
                                           .struct_type = &node_type}};
static const culex_struct_type node_type = {"node", sizeof(struct node), node_fields, 1};

static bool deep_is_written(const culex_struct_type *deep, const struct node *nodes)
{
    culex_arena *arena = culex_arena_create();
    const void *value = NULL;
    culex_buf text;
    culex_buf_init(&text, 0);
    bool is_written = culex__encode_sealed(&sealing, deep, nodes, &text, NULL) == CULEX_OK;
    if (is_written)
        assert_int_equal(
            culex__decode_sealed(&sealing, deep, arena, text.data, text.len, &value, NULL),
            CULEX_OK);
    culex_buf_release(&text);
    culex_arena_free(arena);
    return is_written;
}

/* The box counts as an object around its value, to who writes as to who reads: of a list, and of a
 * struct, with which the number of objects and lists is odd. */
static void test_what_is_deep_is_read_or_not_written(void **state)
{
    (void)state;
    for (int is_list = 0; is_list < 2; is_list++) {
        culex_field outer = node_fields[0];
        outer.flags = SEALED;
        outer.shape = is_list ? CULEX_SHAPE_LIST : CULEX_SHAPE_SINGLE;
        const culex_struct_type deep = {"deep", sizeof(struct node), &outer, 1};
        struct node nodes[CULEX_PAYLOAD_DEPTH_MAX] = {{0}};
        size_t depth = 0;
        while (deep_is_written(&deep, nodes)) {
            assert_true(depth + 1 < CULEX_PAYLOAD_DEPTH_MAX);
            nodes[depth] = (struct node){&nodes[depth + 1], 1};
            depth++;
        }
        assert_in_range(depth, 6, 8);
    }
}

/* A program of before knows the name and not that it is sealed, or does not know it at all. */
static void test_programs_that_know_of_no_boxes(void **state)
{
    (void)state;
    culex_field plain = fields[1];
    plain.flags = CULEX_FIELD_REQUIRED;
    const culex_struct_type before = {"bank.pay", sizeof(struct params), &plain, 1};
    const void *value = NULL;
    culex_arena *arena = culex_arena_create();
    culex_buf text = sealed_text();
    text.data[strlen(text.data) - 1] = '}';
    assert_int_equal(culex_decode(&before, arena, text.data, text.len, &value, NULL),
                     CULEX_EDECODE);
    plain = fields[4];
    plain.flags = 0;
    assert_int_equal(culex_decode(&before, arena, text.data, text.len, &value, NULL),
                     CULEX_EUNDERSTAND);
    culex_buf_release(&text);
    culex_arena_free(arena);
}

static void test_a_payload_that_would_be_too_large(void **state)
{
    (void)state;
    static char letters[CULEX_PAYLOAD_MAX * 3 / 4];
    struct params large = bill;
    culex_error error = {0};
    culex_buf text;
    memset(letters, 'x', sizeof letters - 1);
    large.iban = letters;
    culex_buf_init(&text, 0);
    assert_int_equal(culex__encode_sealed(&sealing, &type, &large, &text, &error), CULEX_ELIMIT);
    assert_int_equal(text.len, 0);
    culex_buf_release(&text);
}

/* Encodes into memory that is known, and looks at all of it: who gave it may use it again. */
static culex_status encode_and_look(const struct params *params, size_t max, long allocations)
{
    static const char *const said[] = {"IT60", "1234567890123", "Zanzara", "first of"};
    culex_buf text;
    culex_buf_init(&text, max);
    text.cap = 4096;
    text.data = calloc(1, text.cap);
    assert_non_null(text.data);
    calls_left = allocations;
    culex_status status = culex__encode_sealed(&sealing, &type, params, &text, NULL);
    calls_left = -1;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        assert_null(memmem(text.data, text.cap, said[i], strlen(said[i])));
    culex_buf_release(&text);
    return status;
}

static void test_what_was_not_sealed_is_wiped(void **state)
{
    (void)state;
    static const char *const bad_notes[] = {"first of the notes", "\xff"};
    struct params bad = bill;
    culex_status status = CULEX_ELIMIT;
    bad.notes = bad_notes;
    assert_int_equal(encode_and_look(&bad, 0, -1), CULEX_EENCODE);
    for (size_t max = 1; status == CULEX_ELIMIT; max++)
        status = encode_and_look(&bill, max, -1);
    assert_int_equal(status, CULEX_OK);
    for (long n = 0; (status = encode_and_look(&bill, 0, n)) == CULEX_ENOMEM;)
        n++;
    assert_int_equal(status, CULEX_OK);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    culex_status status = CULEX_ENOMEM;
    culex_buf text;
    long n = 0;
    for (; status == CULEX_ENOMEM && n < 1000; n++) {
        culex_buf_init(&text, 0);
        calls_left = n;
        status = culex__encode_sealed(&sealing, &type, &bill, &text, NULL);
        calls_left = -1;
        assert_true(status == CULEX_OK || text.len == 0);
        if (status != CULEX_OK)
            culex_buf_release(&text);
    }
    assert_int_equal(status, CULEX_OK);
    assert_true(n > 14); /* two for each box */
    for (status = CULEX_ENOMEM, n = 0; status == CULEX_ENOMEM && n < 1000; n++) {
        const void *value = NULL;
        culex_arena *arena = culex_arena_create();
        calls_left = n;
        status = culex__decode_sealed(&sealing, &type, arena, text.data, text.len, &value, NULL);
        calls_left = -1;
        culex_arena_free(arena);
    }
    assert_int_equal(status, CULEX_OK);
    assert_true(n > 7);
    culex_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_a_file),
        cmocka_unit_test(test_files_that_are_refused),
        cmocka_unit_test(test_every_cut_and_byte_of_a_file),
        cmocka_unit_test(test_no_more_keys_than_there_is_room_for),
        cmocka_unit_test(test_what_is_sealed_comes_back),
        cmocka_unit_test(test_what_is_absent_is_not_sealed),
        cmocka_unit_test(test_every_bit_and_cut_of_a_payload),
        cmocka_unit_test(test_every_byte_and_cut_of_a_box),
        cmocka_unit_test(test_a_box_opens_where_it_was_sealed),
        cmocka_unit_test(test_a_box_keeps_the_id_of_its_key),
        cmocka_unit_test(test_keys_come_and_go),
        cmocka_unit_test(test_another_key_of_the_id_is_a_missing_one),
        cmocka_unit_test(test_text_behind_a_sealed_value),
        cmocka_unit_test(test_what_is_deep_is_read_or_not_written),
        cmocka_unit_test(test_nothing_is_sealed_or_opened_without_keys),
        cmocka_unit_test(test_values_that_are_not_sealed_are_refused),
        cmocka_unit_test(test_programs_that_know_of_no_boxes),
        cmocka_unit_test(test_a_payload_that_would_be_too_large),
        cmocka_unit_test(test_what_was_not_sealed_is_wiped),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, ring_fill, NULL);
}
