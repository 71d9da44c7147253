#include "line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/run_id.h"
#include "world.h"

struct block {
    int64_t first;
    const char *owner, *since, *keep, *timeout, *is_long, *chars, *untils;
    int64_t lease_ms; /* -1: it has no entry */
    char *text;       /* what the others lead into */
};

struct body {
    int64_t number;
    const struct sim_text *text;
};

struct line {
    struct sim_world *world;
    const char *queue;
    uint32_t salt;
    int64_t taken;
    struct body *bodies;
    size_t body_count;
    struct block *blocks;
    size_t block_count;
};

/* --- reading -------------------------------------------------------------------------------- */

static const struct sim_value *key_find(struct sim_world *world, const char *queue,
                                        const char *name)
{
    char key[128];
    int len = snprintf(key, sizeof key, "culex:{%s}:%s", queue, name);
    return sim_space_find(&world->server.redis.space, key, (size_t)len);
}

static int64_t meta_number(struct sim_world *world, const char *queue, const char *field)
{
    const struct sim_value *meta = key_find(world, queue, "meta");
    const struct sim_entry *entry =
        meta == NULL ? NULL : sim_dict_find(&meta->dict, field, strlen(field));
    return entry == NULL ? 0 : strtoll(entry->slot.text->data, NULL, 10);
}

static void *array_make(size_t count, size_t size)
{
    void *made = calloc(count + 1, size);
    if (made == NULL)
        abort();
    return made;
}

static int body_compare(const void *a, const void *b)
{
    int64_t left = ((const struct body *)a)->number, right = ((const struct body *)b)->number;
    return (left > right) - (left < right);
}

static int block_compare(const void *a, const void *b)
{
    int64_t left = ((const struct block *)a)->first, right = ((const struct block *)b)->first;
    return (left > right) - (left < right);
}

static void bodies_read(struct line *line)
{
    const struct sim_value *hash = key_find(line->world, line->queue, "bodies");
    line->bodies = array_make(hash == NULL ? 0 : hash->dict.count, sizeof *line->bodies);
    for (size_t i = 0; hash != NULL && i < hash->dict.cap; i++) {
        const struct sim_entry *entry = &hash->dict.entries[i];
        if (entry->key != NULL)
            line->bodies[line->body_count++] =
                (struct body){strtoll(entry->key->data, NULL, 10), entry->slot.text};
    }
    qsort(line->bodies, line->body_count, sizeof *line->bodies, body_compare);
}

static void block_read(struct line *line, const struct sim_entry *entry, struct block *block)
{
    const char **const fields[] = {&block->owner,   &block->since, &block->keep,  &block->timeout,
                                   &block->is_long, &block->chars, &block->untils};
    const struct sim_value *leases = key_find(line->world, line->queue, "block_leases");
    block->first = strtoll(entry->key->data, NULL, 10);
    char *rest = block->text = strdup(entry->slot.text->data);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        *fields[i] = strsep(&rest, "|");
    if (block->untils == NULL || rest != NULL)
        sim_violation(line->world->oracle, NULL, "%s: a block cannot be read: %s", line->queue,
                      entry->slot.text->data);
    const struct sim_entry *lease =
        leases == NULL ? NULL : sim_dict_find(&leases->dict, entry->key->data, entry->key->len);
    block->lease_ms = lease == NULL ? -1 : llround(lease->slot.score);
}

static void blocks_read(struct line *line)
{
    const struct sim_value *hash = key_find(line->world, line->queue, "blocks");
    line->blocks = array_make(hash == NULL ? 0 : hash->dict.count, sizeof *line->blocks);
    for (size_t i = 0; hash != NULL && i < hash->dict.cap; i++) {
        const struct sim_entry *entry = &hash->dict.entries[i];
        if (entry->key != NULL)
            block_read(line, entry, &line->blocks[line->block_count++]);
    }
    qsort(line->blocks, line->block_count, sizeof *line->blocks, block_compare);
}

static void line_open(struct line *line, struct sim_world *world, const char *queue)
{
    *line = (struct line){.world = world, .queue = queue};
    line->salt = (uint32_t)meta_number(world, queue, "salt");
    line->taken = meta_number(world, queue, "taken");
    bodies_read(line);
    blocks_read(line);
}

static void line_close(struct line *line)
{
    for (size_t i = 0; i < line->block_count; i++)
        free(line->blocks[i].text);
    free(line->bodies);
    free(line->blocks);
}

/* --- records -------------------------------------------------------------------------------- */

static culex_uuid id_of(const struct line *line, int64_t number, const char *body)
{
    return culex__run_id_make((struct culex_run_id_parts){
        .ms = strtoll(body, NULL, 10), .salt = line->salt, .lane = 1, .number = (uint64_t)number});
}

/* The last block that begins at the number or before. */
static const struct block *block_of(const struct line *line, int64_t number)
{
    const struct block *found = NULL;
    for (size_t i = 0; i < line->block_count && line->blocks[i].first <= number; i++)
        found = &line->blocks[i];
    return found != NULL && number - found->first < (int64_t)strlen(found->chars) ? found : NULL;
}

static char char_of(const struct line *line, int64_t number)
{
    const struct block *block = block_of(line, number);
    return block == NULL ? '\0' : block->chars[number - block->first];
}

static bool is_held(char stand)
{
    return stand == '0' || stand == '1';
}

static int64_t until_of(const struct block *block, char stand)
{
    int index = stand >= 'a' ? stand - 'a' : stand - 'A' + 26;
    const char *at = block->untils;
    for (; index > 0 && at != NULL; index--)
        at = strchr(at, ',') == NULL ? NULL : strchr(at, ',') + 1;
    return at == NULL ? -1 : strtoll(at, NULL, 10);
}

/* The record that it would have, up to created_at_ms. */
static void head_make(const struct line *line, int64_t number, char *ret_text, size_t size)
{
    const struct block *block = block_of(line, number);
    char stand = char_of(line, number);
    if (stand == '\0' && number > line->taken)
        snprintf(ret_text, size, "8|W|0||0|0|0");
    else if (is_held(stand))
        snprintf(ret_text, size, "8|A|1|%s|%lld|%s|%c", block->owner, (long long)block->lease_ms,
                 block->since, stand);
    else if (stand != '\0' && stand != '-')
        snprintf(ret_text, size, "8|D|1|%s|%lld|0|0", block->owner,
                 (long long)until_of(block, stand));
    else
        sim_violation(line->world->oracle, NULL, "%s: number %lld is nowhere", line->queue,
                      (long long)number);
}

static struct sim_record record_of(const struct line *line, const struct body *body)
{
    char head[256], text[2048];
    struct sim_record record;
    const char *end = strchr(body->text->data, '\n');
    head_make(line, body->number, head, sizeof head);
    if (end != NULL)
        snprintf(text, sizeof text, "%s|0|0|0|0|0|0|0|%.*s||0|0|0|0|", head,
                 (int)(end - body->text->data), body->text->data);
    if (end == NULL || !sim_record_parse(text, strlen(text), &record))
        sim_violation(line->world->oracle, NULL, "%s: body %lld cannot be read", line->queue,
                      (long long)body->number);
    snprintf(record.payload, sizeof record.payload, "%s", end + 1);
    return record;
}

void sim_line_each(struct sim_world *world, const char *queue,
                   void (*visit)(void *user, culex_uuid id, const struct sim_record *record),
                   void *user)
{
    struct line line;
    line_open(&line, world, queue);
    for (size_t i = 0; i < line.body_count; i++) {
        struct sim_record record = record_of(&line, &line.bodies[i]);
        visit(user, id_of(&line, line.bodies[i].number, line.bodies[i].text->data), &record);
    }
    line_close(&line);
}

bool sim_line_is_ordinary(culex_uuid id)
{
    struct culex_run_id_parts parts;
    return culex__run_id_read(id, &parts) && parts.lane == 1;
}

culex_uuid sim_line_id(struct sim_world *world, const char *queue, int64_t number)
{
    const struct sim_value *hash = key_find(world, queue, "bodies");
    const struct line line = {.salt = (uint32_t)meta_number(world, queue, "salt")};
    char name[24];
    int len = snprintf(name, sizeof name, "%lld", (long long)number);
    const struct sim_entry *entry =
        hash == NULL ? NULL : sim_dict_find(&hash->dict, name, (size_t)len);
    return entry == NULL ? (culex_uuid){{0}} : id_of(&line, number, entry->slot.text->data);
}

bool sim_line_has(struct sim_world *world, const char *queue, culex_uuid id)
{
    struct culex_run_id_parts parts;
    if (!culex__run_id_read(id, &parts) || parts.lane != 1)
        return false;
    culex_uuid there = sim_line_id(world, queue, (int64_t)parts.number);
    return memcmp(&there, &id, sizeof id) == 0;
}

/* --- the raw keys --------------------------------------------------------------------------- */

/* Whatever is wrong with a number. */
static void number_wrong(const struct line *line, const char *what, int64_t number)
{
    sim_violation(line->world->oracle, NULL, "%s: %s: %lld", line->queue, what, (long long)number);
}

static bool has_body(const struct line *line, int64_t number)
{
    const struct body key = {.number = number};
    return bsearch(&key, line->bodies, line->body_count, sizeof *line->bodies, body_compare) !=
           NULL;
}

/* Its entry of the index; -1 for none. */
static int64_t entry_of(const struct line *line, const char *index, int64_t first)
{
    const struct sim_value *set = key_find(line->world, line->queue, index);
    char name[24];
    int len = snprintf(name, sizeof name, "%lld", (long long)first);
    const struct sim_entry *entry =
        set == NULL ? NULL : sim_dict_find(&set->dict, name, (size_t)len);
    return entry == NULL ? -1 : llround(entry->slot.score);
}

static void block_check(const struct line *line, size_t index, int64_t *held, int64_t *kept)
{
    const struct block *block = &line->blocks[index];
    int64_t len = (int64_t)strlen(block->chars), ends = -1, leased = *held;
    if (index + 1 < line->block_count && line->blocks[index + 1].first < block->first + len)
        number_wrong(line, "two blocks over a number", line->blocks[index + 1].first);
    if (block->first + len - 1 > line->taken)
        number_wrong(line, "a block beyond what was taken", block->first);
    for (int64_t at = 0; at < len; at++) {
        char stand = block->chars[at];
        if ((stand != '-') != has_body(line, block->first + at))
            number_wrong(line, "body and block disagree", block->first + at);
        *held += is_held(stand);
        *kept += !is_held(stand) && stand != '-';
        if (!is_held(stand) && stand != '-' && (ends == -1 || until_of(block, stand) < ends))
            ends = until_of(block, stand);
    }
    if (entry_of(line, "spans", block->first) != block->first)
        number_wrong(line, "a block without its span", block->first);
    if ((block->lease_ms == -1) != (*held == leased))
        number_wrong(line, "a block with a wrong lease", block->first);
    if (entry_of(line, "block_ends", block->first) != ends)
        number_wrong(line, "a block with a wrong end", block->first);
}

static size_t size_of(const struct line *line, const char *name)
{
    const struct sim_value *value = key_find(line->world, line->queue, name);
    return value == NULL ? 0 : sim_value_size(value);
}

void sim_line_check(struct sim_world *world, const char *queue)
{
    struct line line;
    int64_t held = 0, kept = 0;
    line_open(&line, world, queue);
    for (size_t i = 0; i < line.block_count; i++)
        block_check(&line, i, &held, &kept);
    for (size_t i = 0; i < line.body_count; i++) {
        int64_t number = line.bodies[i].number;
        if (number <= line.taken && block_of(&line, number) == NULL)
            number_wrong(&line, "a body in no block", number);
        if (number > meta_number(world, queue, "line"))
            number_wrong(&line, "a body beyond the line", number);
    }
    if (held != meta_number(world, queue, "held") || kept != meta_number(world, queue, "kept"))
        number_wrong(&line, "held or kept runs are miscounted", held);
    if (size_of(&line, "spans") != line.block_count ||
        size_of(&line, "block_leases") > line.block_count ||
        size_of(&line, "block_ends") > line.block_count)
        number_wrong(&line, "an index of blocks has strangers", (int64_t)line.block_count);
    line_close(&line);
}
