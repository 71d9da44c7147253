/* fuzz_format - any bytes as a schema to lay out: refused, or a layout that is its own layout. */
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "fuzz.h"
#include "limits.h"

unsigned fuzz_taken;

static bool is_laid_out(struct arena *arena, const char *text, size_t size, struct buf *out)
{
    struct diag_sink sink;
    diag_sink_init(&sink, arena);
    return format_source(&sink, source_create(arena, "fuzz.job", text, size), out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct buf layout = {0};
    struct buf again = {0};
    if (size <= LIMIT_FILE_BYTES && is_laid_out(&arena, (const char *)data, size, &layout)) {
        if (layout.len > 0 &&
            (!is_laid_out(&arena, layout.data, layout.len, &again) || again.len != layout.len ||
             memcmp(again.data, layout.data, again.len) != 0))
            abort();
        fuzz_taken++;
    }
    buf_release(&again);
    buf_release(&layout);
    arena_release(&arena);
    return 0;
}
