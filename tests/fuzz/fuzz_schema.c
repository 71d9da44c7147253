/* fuzz_schema - any bytes as a schema: diagnostics or a model, lint or none, never a crash. */
#include <stdio.h>

#include "buf.h"
#include "check.h"
#include "diag_print.h"
#include "fuzz.h"
#include "ir_json.h"
#include "limits.h"
#include "lint.h"

unsigned fuzz_taken;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct compilation compilation;
    struct buf json = {0};
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (size > LIMIT_FILE_BYTES || nowhere == NULL)
        return 0;
    compilation_init(&compilation);
    struct module *module =
        compilation_load_text(&compilation, "fuzz.job", (const char *)data, size);
    check_module(&compilation, module);
    check_supported(&compilation, module);
    if (compilation.sink.errors == 0)
        lint_module(&compilation, module, ~0u);
    diag_sort(&compilation.sink);
    diag_print_human(&compilation.sink, nowhere, false);
    if (compilation.sink.errors == 0) {
        ir_json_write(module->ir, NULL, &json);
        fuzz_taken++;
    }
    buf_release(&json);
    compilation_release(&compilation);
    return 0;
}
