/* fuzz_schema - any bytes as a schema: diagnostics, or a model and its manual; never a crash. */
#include <stdio.h>

#include "buf.h"
#include "check.h"
#include "clash.h"
#include "diag_print.h"
#include "doc.h"
#include "fix.h"
#include "fuzz.h"
#include "ir_set.h"
#include "limits.h"
#include "lint.h"

unsigned fuzz_taken;

static void print_all(const struct diag_sink *sink, FILE *out)
{
    struct sarif sarif = {0};
    struct junit junit;
    diag_print_human(sink, out, false);
    diag_print_json(sink, out);
    diag_print_github(sink, out);
    sarif_add(&sarif, sink);
    sarif_print(&sarif, out, true);
    junit_init(&junit);
    junit_add(&junit, sink, false);
    junit_print(&junit, out, "check", &(struct texts){0}, true);
}

static void set_print(const struct module *module, struct buf *json)
{
    struct arena arena = {0};
    struct ir_set set;
    ir_set_init(&set, &arena);
    ir_set_add(&set, module, false);
    ir_set_write(&set, true, json);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct compilation compilation;
    struct buf json = {0}, fixed = {0}, log = {0};
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (size > LIMIT_FILE_BYTES || nowhere == NULL)
        return 0;
    compilation_init(&compilation);
    struct module *module =
        compilation_load_text(&compilation, "fuzz.job", (const char *)data, size);
    check_module(&compilation, module);
    clash_check(&compilation, true);
    if (compilation.sink.errors == 0)
        lint_module(&compilation, module, ~0u, NULL);
    diag_sort(&compilation.sink);
    print_all(&compilation.sink, nowhere);
    fix_apply(&compilation.sink, module->source, &fixed, &log);
    if (compilation.sink.errors == 0) {
        set_print(module, &json);
        doc_write(&compilation.arena, module, DOC_MARKDOWN, &json);
        doc_write(&compilation.arena, module, DOC_MAN, &json);
        fuzz_taken++;
    }
    buf_release(&json);
    buf_release(&fixed);
    buf_release(&log);
    compilation_release(&compilation);
    return 0;
}
