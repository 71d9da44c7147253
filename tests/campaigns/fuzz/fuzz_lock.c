/* fuzz_lock - any bytes as a jobs.lock: a report, or a lock that a schema can be compared with and
 * that has one text from then on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "check.h"
#include "diag_print.h"
#include "fuzz.h"
#include "limits.h"

unsigned fuzz_taken;

/* What the corpus has locked, a little later. */
static const char schema[] = "package shop;\n"
                             "enum lang : uint8 { EN = 1, DE = 4 }\n"
                             "struct money { int32 minor; string currency; optional lang l; }\n"
                             "job mail { params { string to; int64 n; lang l = EN; money m;\n"
                             "  string cc[<=6]; uuid u; string nick [[was(\"alias\")]]; }\n"
                             "  returns { uint64 sent; lang l; } queue \"x\"; }\n"
                             "job letter { params { optional money m; } every 1h; }\n";

static void check_canonical(struct diag_sink *sink, const struct lock *lock)
{
    struct buf text = {0}, again = {0};
    lock_write(lock, &text);
    const struct lock *back = lock_read(sink, "again", text.data, text.len);
    if (back == NULL)
        abort();
    lock_write(back, &again);
    if (text.len != again.len || memcmp(text.data, again.data, text.len) != 0)
        abort();
    buf_release(&text);
    buf_release(&again);
}

static void check_lock(struct compilation *compilation, const struct lock *lock, FILE *nowhere)
{
    const char *job;
    struct lock *after = lock_make(compilation);
    struct change change = {.arena = &compilation->arena,
                            .sink = &compilation->sink,
                            .before = lock,
                            .after = after,
                            .categories = CHANGE_ALL};
    change_compare(&change);
    bool are_few = lock_inherit(&compilation->arena, after, lock, NULL, &job);
    diag_sort(&compilation->sink);
    diag_print_human(&compilation->sink, nowhere, false);
    if (are_few)
        check_canonical(&compilation->sink, after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct compilation compilation;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (size > LIMIT_LOCK_BYTES || nowhere == NULL)
        return 0;
    compilation_init(&compilation);
    struct module *module =
        compilation_load_text(&compilation, "shop.job", schema, sizeof(schema) - 1);
    check_module(&compilation, module);
    if (compilation.sink.errors > 0)
        abort();
    const struct lock *lock = lock_read(&compilation.sink, "jobs.lock", (const char *)data, size);
    if ((lock == NULL) != (compilation.sink.errors > 0))
        abort();
    if (lock != NULL) {
        check_canonical(&compilation.sink, lock);
        check_lock(&compilation, lock, nowhere);
        fuzz_taken++;
    }
    diag_sort(&compilation.sink);
    diag_print_human(&compilation.sink, nowhere, false);
    compilation_release(&compilation);
    return 0;
}
