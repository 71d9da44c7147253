/* fuzz_record - any bytes as a run's record in Redis: refused, or read so that it can be
 * written back to the same bytes. And as a body. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/record.h"
#include "core/run.h"
#include "fuzz.h"

enum { RECORD_MAX = 16 * 1024 };

unsigned fuzz_taken;

/* Kinds of run_rules.def, each as schemas/record.md writes it. */
#define WRITE_int(value)  fprintf(out, "|%" PRIu64, (uint64_t)(value))
#define WRITE_hex(value)  fprintf(out, "|%016" PRIx64, (uint64_t)(value))
#define WRITE_name(slice) fprintf(out, "|%.*s", (int)(slice).len, (slice).text)

/* The parser's struct groups fields; here is where each row of the rules stands in it. */
#define at_state            record->state
#define at_attempt          record->facts.attempt
#define at_owner            record->owner
#define at_at_ms            record->at_ms
#define at_timeout_from_ms  record->timeout_from_ms
#define at_started          record->is_started
#define at_losses           record->facts.counters.losses
#define at_expires_at_ms    record->facts.expires_at_ms
#define at_cancel           record->is_cancel_requested
#define at_failures         record->facts.counters.failures
#define at_crashes          record->facts.counters.crashes
#define at_crash_streak     record->facts.counters.crash_streak
#define at_created_at_ms    record->facts.created_at_ms
#define at_keep_success_ms  record->keep_success_ms
#define at_unique_key       record->unique_key
#define at_attempts_max     record->facts.counters.attempts_max
#define at_job              record->job
#define at_priority         record->priority
#define at_timeout_ms       record->facts.timeout_ms
#define at_keep_failure_ms  record->keep_failure_ms
#define at_fingerprint      record->facts.fingerprint
#define at_tags             record->tags
#define at_retry_for_ms     record->facts.counters.retry_for_ms
#define at_unique_while     record->unique_while
#define at_unique_until_ms  record->unique_until_ms
#define at_behind           record->behind
#define at_limits           record->limits
#define WRITE_letter(value) fprintf(out, "|%c", culex__run_state_letter(value))

static size_t record_write(const struct culex__redis_record *record, char *ret_text, size_t size)
{
    FILE *out = fmemopen(ret_text, size, "w");
    if (out == NULL)
        abort();
    fprintf(out, "%d", CULEX_RECORD_VERSION);
#define RECORD_FIELD(name, kind) WRITE_##kind(at_##name);
#include "core/run_rules.def"
    size_t len = (size_t)ftell(out);
    fclose(out);
    return len;
}

/* The same bytes as a body: what was read of its head stands there, and the payload behind it. */
static void body_check(const char *data, size_t size)
{
    struct culex__redis_record record;
    size_t payload = 0;
    if (!culex__redis_body_parse(data, size, &record, &payload))
        return;
    const char *tags_end = record.tags.text + record.tags.len;
    if (payload == 0 || payload > size || data[payload - 1] != '\n' ||
        tags_end != data + payload - 1 || record.job.text < data || record.job.len == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct culex__redis_record record;
    char again[RECORD_MAX + 1];
    body_check((const char *)data, size);
    if (size > RECORD_MAX || !culex__redis_record_parse((const char *)data, size, &record))
        return 0;
    fuzz_taken++;
    size_t len = record_write(&record, again, sizeof again);
    if (len != size || memcmp(again, data, size) != 0)
        abort();
    return 0;
}
