#include "lock_json.h"

#include "json_out.h"
#include "limits.h"

enum { MANY = 1u << 20 };

#define TEXT(type, name, member)                                                                   \
    {                                                                                              \
        name, LOCK_TEXT, false, offsetof(struct type, member), NULL, 0                             \
    }
#define NEEDED(type, name, member)                                                                 \
    {                                                                                              \
        name, LOCK_TEXT, true, offsetof(struct type, member), NULL, 0                              \
    }
#define NUMBER(type, name, member)                                                                 \
    {                                                                                              \
        name, LOCK_NUMBER, false, offsetof(struct type, member), NULL, 0                           \
    }
#define BOOL(type, name, member)                                                                   \
    {                                                                                              \
        name, LOCK_BOOL, false, offsetof(struct type, member), NULL, 0                             \
    }
#define TEXTS(type, name, member)                                                                  \
    {                                                                                              \
        name, LOCK_TEXTS, false, offsetof(struct type, member), NULL, MANY                         \
    }
#define ITEMS(type, name, member, record, max)                                                     \
    {                                                                                              \
        name, LOCK_ITEMS, false, offsetof(struct type, member), record, max                        \
    }
#define RECORD(type, name, member, is_required, record)                                            \
    {                                                                                              \
        name, LOCK_RECORD, is_required, offsetof(struct type, member), record, 0                   \
    }
#define END                                                                                        \
    {                                                                                              \
        NULL, LOCK_TEXT, false, 0, NULL, 0                                                         \
    }

static const struct lock_member allow_members[] = {
    NEEDED(lock_allow, "id", id),
    NEEDED(lock_allow, "reason", reason),
    END,
};
static const struct lock_record allow_record = {sizeof(struct lock_allow), true, 0, allow_members};

static const struct lock_member field_members[] = {
    NEEDED(lock_field, "wire", wire),
    NEEDED(lock_field, "name", name),
    NEEDED(lock_field, "type", type),
    TEXT(lock_field, "ref", ref),
    TEXT(lock_field, "version", version),
    NEEDED(lock_field, "shape", shape),
    NUMBER(lock_field, "count", count),
    NEEDED(lock_field, "presence", presence),
    TEXT(lock_field, "default", default_text),
    TEXT(lock_field, "min", min),
    TEXT(lock_field, "max", max),
    NUMBER(lock_field, "min_len", min_len),
    NUMBER(lock_field, "max_len", max_len),
    BOOL(lock_field, "secret", is_secret),
    BOOL(lock_field, "encrypted", is_encrypted),
    BOOL(lock_field, "must_understand", must_understand),
    TEXT(lock_field, "deprecated", deprecated),
    TEXTS(lock_field, "was", was),
    ITEMS(lock_field, "allow", allows, &allow_record, MANY),
    END,
};
static const struct lock_record field_record = {sizeof(struct lock_field), true,
                                                offsetof(struct lock_field, span), field_members};

static const struct lock_member value_members[] = {
    NEEDED(lock_value, "name", name),
    NEEDED(lock_value, "number", number),
    TEXT(lock_value, "deprecated", deprecated),
    ITEMS(lock_value, "allow", allows, &allow_record, MANY),
    END,
};
static const struct lock_record value_record = {sizeof(struct lock_value), true,
                                                offsetof(struct lock_value, span), value_members};

static const struct lock_member type_members[] = {
    NEEDED(lock_type, "name", name),
    NEEDED(lock_type, "version", version),
    NEEDED(lock_type, "kind", kind),
    NEEDED(lock_type, "c", c),
    BOOL(lock_type, "old", is_old),
    TEXT(lock_type, "base", base),
    BOOL(lock_type, "closed", is_closed),
    ITEMS(lock_type, "values", values, &value_record, LIMIT_ENUM_VALUES),
    ITEMS(lock_type, "fields", block.fields, &field_record, LIMIT_FIELDS),
    TEXTS(lock_type, "reserved", block.reserved),
    TEXTS(lock_type, "gone", block.gone),
    TEXTS(lock_type, "reserved_numbers", reserved_numbers),
    TEXTS(lock_type, "gone_numbers", gone_numbers),
    ITEMS(lock_type, "allow", allows, &allow_record, MANY),
    END,
};
static const struct lock_record type_record = {sizeof(struct lock_type), false,
                                               offsetof(struct lock_type, span), type_members};

static const struct lock_member block_members[] = {
    ITEMS(lock_block, "fields", fields, &field_record, LIMIT_FIELDS),
    TEXTS(lock_block, "reserved", reserved),
    TEXTS(lock_block, "gone", gone),
    END,
};
static const struct lock_record block_record = {sizeof(struct lock_block), false, 0, block_members};

static const struct lock_member limit_members[] = {
    NEEDED(lock_limit, "kind", kind),   NEEDED(lock_limit, "key", key),
    NUMBER(lock_limit, "count", count), NUMBER(lock_limit, "per_ms", per_ms),
    NUMBER(lock_limit, "burst", burst), END,
};
static const struct lock_record limit_record = {sizeof(struct lock_limit), true, 0, limit_members};

static const struct lock_member settings_members[] = {
    NEEDED(lock_settings, "queue", queue),
#define LOCKED(member, key, unit, judge, rule, suffix, text) NUMBER(lock_settings, #key, key),
#include "settings.def"
    TEXT(lock_settings, "backoff", backoff),
    TEXT(lock_settings, "schedule", schedule),
    TEXT(lock_settings, "unique", unique),
    TEXT(lock_settings, "unique_key", unique_key),
    ITEMS(lock_settings, "limits", limits, &limit_record, LIMIT_RUN_LIMITS + LIMIT_NEEDS),
    END,
};
static const struct lock_record settings_record = {sizeof(struct lock_settings), false, 0,
                                                   settings_members};

static const struct lock_member version_members[] = {
    NEEDED(lock_version, "fingerprint", fingerprint),
    ITEMS(lock_version, "fields", fields, &field_record, LIMIT_FIELDS),
    END,
};
static const struct lock_record version_record = {sizeof(struct lock_version), false, 0,
                                                  version_members};

static const struct lock_member job_members[] = {
    NEEDED(lock_job, "wire", wire),
    NEEDED(lock_job, "name", name),
    NEEDED(lock_job, "c", c),
    TEXT(lock_job, "package", package),
    TEXTS(lock_job, "was", was),
    BOOL(lock_job, "retired", is_retired),
    TEXT(lock_job, "deprecated", deprecated),
    NEEDED(lock_job, "fingerprint", fingerprint),
    RECORD(lock_job, "params", params, true, &block_record),
    RECORD(lock_job, "returns", returns, false, &block_record),
    TEXT(lock_job, "result", result),
    RECORD(lock_job, "metadata", metadata, false, &block_record),
    RECORD(lock_job, "settings", settings, true, &settings_record),
    ITEMS(lock_job, "versions", versions, &version_record, LIMIT_VERSIONS),
    ITEMS(lock_job, "results", results, &version_record, LIMIT_VERSIONS),
    ITEMS(lock_job, "allow", allows, &allow_record, MANY),
    END,
};
static const struct lock_record job_record = {sizeof(struct lock_job), false,
                                              offsetof(struct lock_job, span), job_members};

static const struct lock_member removed_members[] = {
    NEEDED(lock_removed, "wire", wire),
    NEEDED(lock_removed, "name", name),
    END,
};
static const struct lock_record removed_record = {sizeof(struct lock_removed), true, 0,
                                                  removed_members};

static const struct lock_member chain_members[] = {
    NEEDED(lock_chain, "name", name),
    TEXTS(lock_chain, "steps", steps),
    END,
};
static const struct lock_record chain_record = {sizeof(struct lock_chain), true,
                                                offsetof(struct lock_chain, span), chain_members};

static const struct lock_member root_members[] = {
    {"lock", LOCK_NUMBER, true, offsetof(struct lock, format), NULL, 0},
    ITEMS(lock, "types", types, &type_record, MANY),
    ITEMS(lock, "jobs", jobs, &job_record, MANY),
    ITEMS(lock, "chains", chains, &chain_record, MANY),
    ITEMS(lock, "removed", removed, &removed_record, MANY),
    END,
};
const struct lock_record lock_record_root = {sizeof(struct lock), false, 0, root_members};

/* ---- writing ---- */

static void write_record(struct json_out *json, const char *name, const void *base,
                         const struct lock_record *record);

struct item {
    struct item *next;
};

static void write_texts(struct json_out *json, const char *name, const struct lock_text *list)
{
    bool was_compact = json->is_compact;
    if (list == NULL)
        return;
    json_open(json, name, '[');
    json->is_compact = true;
    for (; list != NULL; list = list->next)
        json_text(json, NULL, list->text);
    json_close(json, ']');
    json->is_compact = was_compact;
}

static void write_items(struct json_out *json, const struct lock_member *member,
                        const struct item *list)
{
    if (list == NULL)
        return;
    json_open(json, member->name, '[');
    for (; list != NULL; list = list->next)
        write_record(json, NULL, list, member->record);
    json_close(json, ']');
}

static void write_member(struct json_out *json, const struct lock_member *member, const void *place)
{
    const void *const *pointer = place;
    const int64_t *number = place;
    const bool *flag = place;
    switch (member->kind) {
    case LOCK_TEXT:
        if (*pointer != NULL)
            json_text(json, member->name, *pointer);
        break;
    case LOCK_NUMBER:
        if (*number >= 0)
            json_number(json, member->name, *number);
        break;
    case LOCK_BOOL:
        if (*flag)
            json_bool(json, member->name, true);
        break;
    case LOCK_TEXTS:
        write_texts(json, member->name, *pointer);
        break;
    case LOCK_ITEMS:
        write_items(json, member, *pointer);
        break;
    case LOCK_RECORD:
        if (*pointer != NULL)
            write_record(json, member->name, *pointer, member->record);
        break;
    }
}

static void write_record(struct json_out *json, const char *name, const void *base,
                         const struct lock_record *record)
{
    bool was_compact = json->is_compact;
    json_open(json, name, '{');
    json->is_compact |= record->is_line;
    for (const struct lock_member *at = record->members; at->name != NULL; at++)
        write_member(json, at, (const char *)base + at->offset);
    json_close(json, '}');
    json->is_compact = was_compact;
}

void lock_write(const struct lock *lock, struct buf *buf)
{
    struct json_out json = {0};
    write_record(&json, NULL, lock, &lock_record_root);
    buf_append(buf, json.buf.data, json.buf.len);
    buf_char(buf, '\n');
    buf_release(&json.buf);
}
