/* texts.c - a growing list of texts. */
#include "texts.h"

#include <stdlib.h>

#include "arena.h"

/* The room is the power of two at or above the count, so it is full when the count is one. */
void texts_add(struct texts *texts, const char *text)
{
    size_t count = texts->count;
    size_t room = count == 0 ? 1 : 2 * count;
    if ((count & (count - 1)) == 0)
        texts->items = memory_resize(texts->items, room * sizeof(*texts->items));
    texts->items[texts->count++] = text;
}

void texts_release(struct texts *texts)
{
    free(texts->items);
    *texts = (struct texts){0};
}
