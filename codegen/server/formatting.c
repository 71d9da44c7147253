/* formatting.c - the one layout, as the smallest edit of whole lines. */
#include "format.h"
#include "request.h"

/* Bytes of the lines that both texts begin with. */
static size_t common_start(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t lines = 0;
    for (size_t at = 0; at < a_len && at < b_len && a[at] == b[at]; at++)
        lines = a[at] == '\n' ? at + 1 : lines;
    return lines;
}

/* Bytes of the lines that both texts end with. */
static size_t common_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t lines = 0;
    for (size_t at = 0; at < a_len && at < b_len; at++) {
        char byte = a[a_len - 1 - at];
        if (byte == '\n')
            lines = at;
        if (byte != b[b_len - 1 - at])
            return lines;
    }
    return lines;
}

static void write_change(struct request *request, const struct target *target,
                         const struct buf *layout)
{
    const struct source *source = target->source;
    size_t start = common_start(source->text, source->size, layout->data, layout->len);
    size_t end = common_end(source->text + start, source->size - start, layout->data + start,
                            layout->len - start);
    struct span span = {source, (uint32_t)start, (uint32_t)(source->size - start - end)};
    size_t len = layout->len - start - end;
    if (span.length > 0 || len > 0)
        write_edit(request->json, target->analysis, span,
                   arena_copy(request->arena, layout->data + start, len));
}

void answer_formatting(struct request *request)
{
    struct target target;
    struct diag_sink quiet; /* What is wrong with the text was published. */
    struct buf layout = {0};
    if (!request_document(request, &target))
        return;
    diag_sink_init(&quiet, request->arena);
    buf_text(&layout, "");
    if (format_source(&quiet, target.source, &layout)) {
        json_open(request->json, "result", '[');
        write_change(request, &target, &layout);
        json_close(request->json, ']');
    } else {
        json_null(request->json, "result");
    }
    buf_release(&layout);
}
