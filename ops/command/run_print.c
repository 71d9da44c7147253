#include "command/run_print.h"

#include <string.h>

const char *ops_run_at_name(culex_run_state state)
{
    static const char *const names[CULEX_RUN_STATE_COUNT] = {
        [CULEX_RUN_SCHEDULED] = "due",     [CULEX_RUN_WAITING] = "due",
        [CULEX_RUN_ACTIVE] = "lease ends", [CULEX_RUN_DONE] = "forgotten",
        [CULEX_RUN_DEAD] = "forgotten",    [CULEX_RUN_CANCELLED] = "forgotten",
    };
    return (unsigned)state < CULEX_RUN_STATE_COUNT ? names[state] : "at";
}

void ops_tags_json(struct ops_json *json, const char *tags)
{
    ops_json_array(json, "tags");
    while (*tags != '\0') {
        size_t len = strcspn(tags, ",");
        ops_json_text_of(json, NULL, tags, len);
        tags += len + (tags[len] == ',');
    }
    ops_json_array_end(json);
}

void ops_run_json(struct ops_json *json, const culex_run_info *run)
{
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016llx", (unsigned long long)run->fingerprint);
    ops_json_id(json, "id", run->id);
    ops_json_text(json, "queue", run->queue);
    ops_json_text(json, "job", run->job);
    ops_json_text(json, "state", culex_run_state_name(run->state));
    ops_json_int(json, "priority", run->priority);
    ops_json_count(json, "attempt", run->attempt);
    ops_json_count(json, "attempts_max", run->attempts_max);
    ops_json_count(json, "failures", run->failures);
    ops_json_count(json, "crashes", run->crashes);
    ops_json_count(json, "losses", run->losses);
    ops_json_int(json, "created_at_ms", run->created_at_ms);
    ops_json_int(json, "at_ms", run->at_ms);
    ops_json_int(json, "expires_at_ms", run->expires_at_ms);
    ops_json_bool(json, "cancel_requested", run->cancel_requested);
    ops_json_text(json, "fingerprint", fingerprint);
    ops_tags_json(json, run->tags);
}
