#include "platform/pages.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>

static void *pages_map(size_t size, int kind)
{
    assert(size > 0);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void *culex__pages_share(size_t size)
{
    return pages_map(size, MAP_SHARED);
}

void *culex__pages_keep(size_t size)
{
    void *memory = pages_map(size, MAP_PRIVATE);
    if (memory == NULL || madvise(memory, size, MADV_WIPEONFORK) == 0)
        return memory;
    int failure = errno;
    culex__pages_free(memory, size);
    errno = failure;
    return NULL;
}

void *culex__pages_hide(size_t size)
{
    void *memory = pages_map(size, MAP_PRIVATE);
    if (memory == NULL)
        return NULL;
    (void)mlock(memory, size);
    (void)madvise(memory, size, MADV_DONTDUMP);
    return memory;
}

void culex__pages_free(void *memory, size_t size)
{
    if (memory != NULL && size > 0)
        munmap(memory, size);
}

void culex__pages_withhold(void *memory, size_t size)
{
    assert(memory != NULL && size > 0);
    madvise(memory, size, MADV_DONTFORK);
}
