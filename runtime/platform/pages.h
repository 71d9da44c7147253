/* platform/pages.h - memory by the page, and what becomes of it when this process forks. */
#ifndef CULEX_PLATFORM_PAGES_H
#define CULEX_PLATFORM_PAGES_H

#include <stddef.h>

/* `size` bytes, zeros at first: shared with whoever is forked from now on. NULL with errno. */
void *culex__pages_share(size_t size);

/* `size` bytes, zeros at first, and zeros again in whoever is forked from now on. NULL with errno,
 * also where the system has no such memory. */
void *culex__pages_keep(size_t size);

/* `size` bytes, zeros at first: in no core file, and in no swap where the system grants so much
 * locked memory. NULL with errno. */
void *culex__pages_hide(size_t size);

/* Gives up some of what came from here; NULL and `size` 0 are nothing. */
void culex__pages_free(void *memory, size_t size);

/* Processes that are forked from now on do not have it. A system that cannot do so may do nothing:
 * it only keeps them from writing there by mistake. */
void culex__pages_withhold(void *memory, size_t size);

#endif
