/* choice.h - which of a few words a text is. */
#ifndef CULEXC_CHOICE_H
#define CULEXC_CHOICE_H

#include <stddef.h>

/* The index of `text` in `words`, which NULL ends; that of the NULL when it is none of them. */
size_t choice_find(const char *const *words, const char *text);

#endif
