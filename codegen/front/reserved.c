/* Reserved names and numbers by what they say: a schema may have as many of them as it has fields,
 * each of which is looked for among them. */
#include "reserved.h"

#include <string.h>

void reserved_init(struct reserved *reserved, struct arena *arena, const struct literal *list)
{
    char text[WIDE_TEXT_BYTES];
    map_init(&reserved->names, arena);
    map_init(&reserved->numbers, arena);
    for (; list != NULL; list = list->next) {
        void *value = (void *)(uintptr_t)list;
        if (list->kind == LITERAL_STRING) {
            map_add(&reserved->names, list->text, value);
        } else if (list->kind == LITERAL_INT) {
            wide_format(list->integer, text);
            map_add(&reserved->numbers, arena_copy(arena, text, strlen(text)), value);
        }
    }
}

const struct literal *reserved_name(const struct reserved *reserved, const char *name)
{
    return map_get(&reserved->names, name);
}

const struct literal *reserved_number(const struct reserved *reserved, struct wide number)
{
    char text[WIDE_TEXT_BYTES];
    wide_format(number, text);
    return map_get(&reserved->numbers, text);
}
