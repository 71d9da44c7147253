#include "textdiff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

enum {
    CONTEXT = 3,
    REACH = 100 /* how many lines of both texts together are skipped to find one in common */
};

struct line {
    const char *text;
    size_t len; /* with its line end */
};

struct lines {
    struct line *items;
    size_t count;
};

/* `before` lines of the one text from `from` on became `after` lines of the other from `to` on. */
struct change {
    size_t from, before;
    size_t to, after;
};

static struct lines lines_split(const struct buf *text)
{
    struct lines lines = {memory_resize(NULL, (text->len + 1) * sizeof(struct line)), 0};
    for (size_t at = 0; at < text->len;) {
        const char *end = memchr(text->data + at, '\n', text->len - at);
        size_t len = end == NULL ? text->len - at : (size_t)(end - text->data) + 1 - at;
        lines.items[lines.count++] = (struct line){text->data + at, len};
        at += len;
    }
    return lines;
}

static bool is_same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    return i < a->count && j < b->count && a->items[i].len == b->items[j].len &&
           memcmp(a->items[i].text, b->items[j].text, a->items[i].len) == 0;
}

/* A line in common that says something: a brace alone would tie together what is not related. */
static bool is_anchor(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    return is_same(a, i, b, j) && a->items[i].len > 2;
}

/* Skips as few lines as it can, so that both texts go on with a line in common. */
static void anchor_find(const struct lines *a, const struct lines *b, struct change *change)
{
    for (size_t skipped = 1; skipped <= REACH; skipped++) {
        for (size_t some = 0; some <= skipped; some++) {
            if (!is_anchor(a, change->from + some, b, change->to + skipped - some))
                continue;
            change->before = some;
            change->after = skipped - some;
            return;
        }
    }
    change->before = a->count - change->from;
    change->after = b->count - change->to;
}

static void change_find(const struct lines *a, const struct lines *b, struct change *change)
{
    anchor_find(a, b, change);
    while (change->before > 0 && change->after > 0 &&
           is_same(a, change->from + change->before - 1, b, change->to + change->after - 1))
        change->before--, change->after--;
}

/* The next change at or behind the lines `from` and `to`, which correspond; false at the end. */
static bool change_next(const struct lines *a, const struct lines *b, size_t from, size_t to,
                        struct change *ret_change)
{
    while (is_same(a, from, b, to))
        from++, to++;
    *ret_change = (struct change){.from = from, .to = to};
    if (from == a->count && to == b->count)
        return false;
    change_find(a, b, ret_change);
    return true;
}

static void line_write(struct buf *out, char mark, struct line line)
{
    buf_char(out, mark);
    buf_append(out, line.text, line.len);
    if (line.text[line.len - 1] != '\n')
        buf_text(out, "\n\\ No newline at end of file\n");
}

static void range_write(struct buf *out, char mark, size_t start, size_t count)
{
    buf_printf(out, "%c%zu,%zu ", mark, count == 0 ? start : start + 1, count);
}

/* One hunk: changes that are close to each other, with the lines around them. Returns the last
 * change in it. */
static struct change hunk_write(const struct lines *a, const struct lines *b, struct change change,
                                struct buf *out)
{
    struct buf body = {0};
    size_t lead = change.from < CONTEXT ? change.from : CONTEXT;
    size_t from = change.from - lead;
    size_t to = change.to - lead;
    size_t at = from;
    struct change next = change;
    do {
        change = next;
        for (; at < change.from; at++)
            line_write(&body, ' ', a->items[at]);
        for (; at < change.from + change.before; at++)
            line_write(&body, '-', a->items[at]);
        for (size_t i = 0; i < change.after; i++)
            line_write(&body, '+', b->items[change.to + i]);
    } while (change_next(a, b, at, change.to + change.after, &next) &&
             next.from - at <= (size_t)CONTEXT * 2);
    size_t stop = at;
    for (; at < a->count && at < stop + CONTEXT; at++)
        line_write(&body, ' ', a->items[at]);
    buf_text(out, "@@ ");
    range_write(out, '-', from, at - from);
    range_write(out, '+', to, change.to + change.after + (at - stop) - to);
    buf_text(out, "@@\n");
    buf_append(out, body.data, body.len);
    buf_release(&body);
    return change;
}

static void head_write(struct buf *out, const char *mark, const char *path)
{
    buf_text(out, mark);
    for (; *path != '\0'; path++)
        buf_char(out, (unsigned char)*path < ' ' ? '?' : *path);
    buf_char(out, '\n');
}

void textdiff_write(const char *path, const struct buf *before, const struct buf *after,
                    struct buf *out)
{
    struct lines a = lines_split(before);
    struct lines b = lines_split(after);
    struct change change = {0};
    if (change_next(&a, &b, 0, 0, &change)) {
        head_write(out, "--- ", path);
        head_write(out, "+++ ", path);
        do
            change = hunk_write(&a, &b, change, out);
        while (change_next(&a, &b, change.from + change.before, change.to + change.after, &change));
    }
    free(a.items);
    free(b.items);
}
