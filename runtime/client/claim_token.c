#include "client/claim_token.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/digit.h"
#include "base/error.h"
#include "core/number.h"
#include "core/queue_name.h"
#include "core/uuid.h"

#define VERSION "c1"

enum { NUMBERS_SIZE = 10 + 19 + 19 + 8, DOTS = 7 };

static_assert(sizeof VERSION + CULEX_UUID_TEXT_LEN + CULEX_STORE_SESSION_MAX + NUMBERS_SIZE +
                      CULEX_QUEUE_NAME_MAX + DOTS <=
                  CULEX_CLAIM_TOKEN_SIZE,
              "room for the longest token");

void culex__claim_token_write(const struct culex_claim_token *token,
                              char ret_text[CULEX_CLAIM_TOKEN_SIZE])
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(token->id, id);
    int len = snprintf(ret_text, CULEX_CLAIM_TOKEN_SIZE,
                       VERSION ".%s.%" PRIu32 ".%s.%" PRId64 ".%" PRId64 ".%" PRId64 ".%s", id,
                       token->attempt, token->session, token->claim_ms, token->times_out_ms,
                       token->lease_ms, token->queue);
    assert(len > 0 && len < CULEX_CLAIM_TOKEN_SIZE);
    (void)len;
}

/* The part of the text up to the next dot, which is passed by. False: there is no dot, or more than
 * `size` - 1 bytes before it. */
static bool part_take(const char **text, size_t size, char *ret_part)
{
    const char *dot = strchr(*text, '.');
    if (dot == NULL || (size_t)(dot - *text) >= size)
        return false;
    memcpy(ret_part, *text, (size_t)(dot - *text));
    ret_part[dot - *text] = '\0';
    *text = dot + 1;
    return true;
}

static bool is_session(const char *text)
{
    size_t len = strlen(text), at = 0;
    while (at < len && culex__hex_value(text[at]) >= 0)
        at++;
    return len > 0 && at == len;
}

static bool attempt_read(const char *text, uint32_t *ret_attempt)
{
    uint64_t attempt;
    bool is_good =
        culex__uint64_parse(text, strlen(text), &attempt) && attempt > 0 && attempt <= UINT32_MAX;
    *ret_attempt = is_good ? (uint32_t)attempt : 0;
    return is_good;
}

static bool ms_take(const char **text, int64_t most, int64_t *ret_ms)
{
    char part[CULEX_NUMBER_TEXT_MAX];
    return part_take(text, sizeof part, part) && culex__int64_parse(part, strlen(part), ret_ms) &&
           *ret_ms >= 0 && *ret_ms <= most;
}

static bool token_read(const char *text, struct culex_claim_token *ret_token)
{
    char part[CULEX_UUID_TEXT_SIZE];
    if (!part_take(&text, sizeof part, part) || strcmp(part, VERSION) != 0 ||
        !part_take(&text, sizeof part, part) ||
        !culex__uuid_read(part, strlen(part), &ret_token->id) ||
        !part_take(&text, sizeof part, part) || !attempt_read(part, &ret_token->attempt) ||
        !part_take(&text, sizeof ret_token->session, ret_token->session) ||
        !is_session(ret_token->session) ||
        !ms_take(&text, CULEX_INSTANT_MAX_MS, &ret_token->claim_ms) ||
        !ms_take(&text, CULEX_INSTANT_MAX_MS, &ret_token->times_out_ms) ||
        !ms_take(&text, CULEX_CLAIM_LEASE_MAX_MS, &ret_token->lease_ms) ||
        ret_token->lease_ms < CULEX_CLAIM_LEASE_MIN_MS)
        return false;
    if (culex__queue_check(text, NULL) != CULEX_OK)
        return false;
    strcpy(ret_token->queue, text);
    return true;
}

culex_status culex__claim_token_read(const char *text, struct culex_claim_token *ret_token,
                                     culex_error *error)
{
    if (text != NULL && strnlen(text, CULEX_CLAIM_TOKEN_SIZE) < CULEX_CLAIM_TOKEN_SIZE &&
        token_read(text, ret_token))
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "this is no token of a lease: pass on the one that came with the claim, as "
                       "it is");
}
