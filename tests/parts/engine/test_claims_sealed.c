/* The params of a claimed run whose job has encrypted ones: opened by the keys of whoever asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/claims.h>
#include <culex/schema.h>

#include "core/keys.h"
#include "world.h"

CULEX_SEALS;

#define KEYS "2026-05 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

static void test_params_are_opened_by_the_clients_keys(void **state)
{
    struct world *world = world_open();
    struct culex_keys keys;
    culex_field field = number_struct.fields[0];
    field.flags |= CULEX_FIELD_ENCRYPTED;
    const culex_struct_type sealed = {"t.number", sizeof(struct number), &field, 1};
    culex_job_type type = number_type();
    culex_claim *claim = NULL;
    char *text = NULL;
    size_t len = 0;
    (void)state;
    type.params = &sealed;
    assert_int_equal(culex__keys_read(KEYS, strlen(KEYS), &keys, NULL), CULEX_OK);
    world->client->keys = &keys;
    world_enqueue(world, &type, 1234567);
    assert_int_equal(culex_schema_write(&type, &text, &len, NULL), CULEX_OK);
    const struct culex_schema_text schema = {{type.wire, type.fingerprint, 1}, text, len};
    assert_int_equal(world->store->ops->schema_publish(world->store, type.queue, &schema, NULL),
                     CULEX_OK);
    free(text);
    assert_int_equal(culex_client_claim(world->client, "numbers", NULL, &claim, NULL), CULEX_OK);
    assert_null(strstr((const char *)claim->payload.data, "1234567"));
    assert_int_equal(culex_claim_params(world->client, claim, &text, &len, NULL), CULEX_OK);
    assert_string_equal(text, "{\"n\":1234567}");
    assert_int_equal(len, strlen(text));
    free(text);
    world->client->keys = NULL;
    assert_int_equal(culex_claim_params(world->client, claim, &text, NULL, NULL), CULEX_ENOKEY);
    assert_null(text);
    culex_claim_free(claim);
    world_close(world);
}

/* Those that are secret and not encrypted can be read without a key, and are hidden. */
static void test_secrets_beside_sealed_params_are_hidden_without_keys(void **state)
{
    struct pair {
        int64_t n, pin;
    };
    struct world *world = world_open();
    struct culex_keys keys;
    culex_field fields[2] = {number_struct.fields[0], number_struct.fields[0]};
    const culex_struct_type params = {"t.number", sizeof(struct pair), fields, 2};
    const struct pair pair = {7777777, 1234567};
    const culex_claim_failure failure = {.text = "no 1234567", .is_final = true};
    culex_job_type type = number_type();
    culex_claim *claim = NULL;
    char *text = NULL;
    size_t len = 0;
    (void)state;
    fields[0].flags |= CULEX_FIELD_ENCRYPTED;
    fields[1].name = fields[1].wire = "pin";
    fields[1].flags |= CULEX_FIELD_SECRET;
    fields[1].offset = offsetof(struct pair, pin);
    type.params = &params;
    assert_int_equal(culex__keys_read(KEYS, strlen(KEYS), &keys, NULL), CULEX_OK);
    world->client->keys = &keys;
    assert_int_equal(culex_client_enqueue(world->client, &type, &pair, NULL, NULL, NULL), CULEX_OK);
    world->client->keys = NULL;
    assert_int_equal(culex_schema_write(&type, &text, &len, NULL), CULEX_OK);
    const struct culex_schema_text schema = {{type.wire, type.fingerprint, 1}, text, len};
    assert_int_equal(world->store->ops->schema_publish(world->store, type.queue, &schema, NULL),
                     CULEX_OK);
    free(text);
    assert_int_equal(culex_client_claim(world->client, "numbers", NULL, &claim, NULL), CULEX_OK);
    assert_int_equal(culex_claim_fail(world->client, claim->token, &failure, NULL), CULEX_OK);
    culex_run_info *run = world_get(world, claim->id);
    assert_string_equal(run->error_text, "no [secret]");
    culex_run_info_free(run);
    culex_claim_free(claim);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_params_are_opened_by_the_clients_keys),
        cmocka_unit_test(test_secrets_beside_sealed_params_are_hidden_without_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
