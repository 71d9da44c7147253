/* texts.h - a growing list of texts that it does not own. */
#ifndef CULEXC_TEXTS_H
#define CULEXC_TEXTS_H

#include <stddef.h>

/* A zeroed one is empty. */
struct texts {
    const char **items;
    size_t count;
};

void texts_add(struct texts *texts, const char *text);
void texts_release(struct texts *texts);

#endif
