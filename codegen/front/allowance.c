#include "allowance.h"

#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 32 };

static const char *key_of(char key[KEY_BYTES], uint32_t line, enum diag_id id)
{
    snprintf(key, KEY_BYTES, "%u %d", (unsigned)line, (int)id);
    return key;
}

void allowance_keep(struct arena *arena, struct source *source, struct allowance *allowance)
{
    char key[KEY_BYTES];
    key_of(key, allowance->line, allowance->id);
    allowance->next = source->allowances;
    source->allowances = allowance;
    struct allowance *first =
        map_add(&source->allowed, arena_copy(arena, key, strlen(key)), allowance);
    if (first == NULL)
        return;
    allowance->same = first->same;
    first->same = allowance;
}

bool allowance_covers(struct span span, enum diag_id id)
{
    char key[KEY_BYTES];
    if (span.source == NULL || span.source->allowances == NULL)
        return false;
    struct allowance *first = map_get(&span.source->allowed, key_of(key, span_line(span), id));
    for (struct allowance *at = first; at != NULL && !at->is_used; at = at->same)
        at->is_used = true;
    return first != NULL;
}
