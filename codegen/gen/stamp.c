#include "stamp.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "digest.h"
#include "limits.h"

#define STAMP_FORMAT "/* culexc gen: %016" PRIx64 " */\n"
enum { STAMP_BYTES = sizeof("/* culexc gen: 0123456789abcdef */\n") - 1 };

static uint64_t stamp_number(uint64_t inputs, const char *header, size_t header_len,
                             const char *source, size_t source_len)
{
    return digest_bytes(digest_bytes(inputs, header, header_len), source, source_len);
}

void stamp_add(struct arena *arena, uint64_t inputs, const struct answer_file *header,
               struct answer_file *source)
{
    assert(header != source); /* The stamp counts the header without one. */
    uint64_t number =
        stamp_number(inputs, header->content, header->len, source->content, source->len);
    char *text = arena_alloc(arena, source->len + STAMP_BYTES + 1);
    memcpy(text, source->content, source->len);
    snprintf(text + source->len, STAMP_BYTES + 1, STAMP_FORMAT, number);
    source->content = text;
    source->len += STAMP_BYTES;
}

/* A regular file, whole; false when there is no such one. The caller releases the text. */
static bool file_read(const char *path, struct buf *ret_text)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *ret_text = (struct buf){0};
    if (fd < 0)
        return false;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
                   info.st_size <= LIMIT_ANSWER_BYTES;
    size_t size = is_file ? (size_t)info.st_size : 0;
    if (is_file)
        *ret_text = (struct buf){.data = memory_resize(NULL, size + 1), .size = size + 1};
    while (ret_text->len < size) {
        ssize_t got = read(fd, ret_text->data + ret_text->len, size - ret_text->len);
        if (got <= 0)
            break;
        ret_text->len += (size_t)got;
    }
    close(fd);
    return is_file && ret_text->len == size;
}

static bool texts_fit(uint64_t inputs, const struct buf *header, const struct buf *source)
{
    char expected[STAMP_BYTES + 1];
    if (source->len < STAMP_BYTES)
        return false;
    size_t len = source->len - STAMP_BYTES;
    snprintf(expected, sizeof(expected), STAMP_FORMAT,
             stamp_number(inputs, header->data, header->len, source->data, len));
    return memcmp(source->data + len, expected, STAMP_BYTES) == 0;
}

bool stamp_holds(struct arena *arena, uint64_t inputs, const char *out, const char *header,
                 const char *source)
{
    struct buf texts[2] = {0};
    bool holds = file_read(arena_printf(arena, "%s/%s", out, header), &texts[0]) &&
                 file_read(arena_printf(arena, "%s/%s", out, source), &texts[1]) &&
                 texts_fit(inputs, &texts[0], &texts[1]);
    buf_release(&texts[0]);
    buf_release(&texts[1]);
    return holds;
}
