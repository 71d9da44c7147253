/* sim/data.h - the values of the virtual Redis: strings, hashes, lists, sets, sorted sets.
 *
 * Texts are immutable and counted, so a snapshot of the whole key space copies pointers only.
 * Sizes are those of a simulation: sorted sets are sorted arrays. Out of memory ends the program.
 */
#ifndef CULEX_SIM_DATA_H
#define CULEX_SIM_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_text {
    unsigned holders;
    uint32_t hash;
    size_t len;
    char data[]; /* with a NUL after it */
};

struct sim_text *sim_text_make(const void *data, size_t len);
struct sim_text *sim_text_hold(struct sim_text *text);
void sim_text_drop(struct sim_text *text); /* accepts NULL */
bool sim_text_is(const struct sim_text *text, const void *data, size_t len);

/* --- dict: text to text, object or score --------------------------------------------------- */

union sim_slot {
    struct sim_text *text;
    struct sim_value *value;
    double score;
};

struct sim_entry {
    struct sim_text *key; /* NULL: free */
    union sim_slot slot;
};

struct sim_dict {
    struct sim_entry *entries;
    size_t cap, count; /* cap is a power of two or 0 */
};

struct sim_entry *sim_dict_find(const struct sim_dict *dict, const void *key, size_t len);

/* The entry of `key`, made with a zeroed slot when it is not there. */
struct sim_entry *sim_dict_put(struct sim_dict *dict, const void *key, size_t len,
                               bool *ret_is_new);

/* Takes the entry out; its slot is the caller's to drop before. */
void sim_dict_remove(struct sim_dict *dict, struct sim_entry *entry);

/* --- values -------------------------------------------------------------------------------- */

enum sim_kind { SIM_HASH, SIM_LIST, SIM_SET, SIM_ZSET, SIM_STRING };

struct sim_scored {
    double score;
    struct sim_text *member; /* held by the dict */
};

struct sim_value {
    enum sim_kind kind;
    struct sim_dict dict;      /* HASH: text; SET: nothing; ZSET: score */
    struct sim_scored *sorted; /* ZSET, dict.count entries */
    size_t sorted_cap;
    struct sim_text **items; /* LIST: items[first .. first + count - 1]; STRING: items[0] */
    size_t first, count, items_cap;
};

struct sim_value *sim_value_make(enum sim_kind kind);
void sim_value_free(struct sim_value *value);
struct sim_value *sim_value_copy(const struct sim_value *value);
size_t sim_value_size(const struct sim_value *value);

bool sim_zset_put(struct sim_value *zset, const void *member, size_t len, double score); /* new */
bool sim_zset_remove(struct sim_value *zset, const void *member, size_t len);
/* Index of the first entry whose score is at least (or, `is_above`, more than) `score`. */
size_t sim_zset_rank(const struct sim_value *zset, double score, bool is_above);

void sim_list_push(struct sim_value *list, struct sim_text *text, bool is_left);
struct sim_text *sim_list_pop(struct sim_value *list, bool is_left); /* owned */

/* --- the key space: a dict of values ------------------------------------------------------- */

struct sim_value *sim_space_find(const struct sim_dict *space, const void *key, size_t len);
bool sim_space_remove(struct sim_dict *space, const void *key, size_t len);
void sim_space_clear(struct sim_dict *space);
void sim_space_copy(const struct sim_dict *space, struct sim_dict *ret_copy);

#endif
