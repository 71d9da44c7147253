/* fuzz_answer - any bytes as the answer of a plug-in: refused, or files whose names stay below the
 * folder for output and complaints with a text. */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "fuzz.h"

unsigned fuzz_taken;

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Looked at from the other side than answer.c does: part by part. */
static void name_check(const char *name)
{
    for (const char *part = name; part != NULL;
         part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        require(*part != '/' && *part != '\0' && *part != '.' && *part != '-');
    require(strpbrk(name, "\\\n\r\t ") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct buf text = {0};
    struct answer answer;
    buf_append(&text, data, size);
    if (answer_take(&arena, NULL, &text, &answer)) {
        for (const struct answer_file *file = answer.files; file != NULL; file = file->next) {
            name_check(file->name);
            require(map_get(&answer.by_name, file->name) == file && file->content != NULL);
        }
        for (const struct answer_error *error = answer.errors; error != NULL; error = error->next)
            require(error->message != NULL && error->line >= 0 && error->column >= 0);
        fuzz_taken++;
    }
    buf_release(&text);
    arena_release(&arena);
    return 0;
}
