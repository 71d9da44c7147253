/* fuzz_schema.c - any bytes as a schema: diagnostics or a model, never a crash.
 *
 * With libFuzzer this is a fuzz target. Without, main() replays files: each as it
 * is, each cut after every byte, and each with one byte changed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "check.h"
#include "diag_print.h"
#include "ir_json.h"
#include "limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    diag_sort(&compilation.sink);
    diag_print_human(&compilation.sink, nowhere, false);
    if (compilation.sink.errors == 0)
        ir_json_write(module->ir, NULL, &json);
    buf_release(&json);
    compilation_release(&compilation);
    return 0;
}

#ifndef FUZZ_WITH_ENGINE
static void replay_mutations(uint8_t *data, size_t size)
{
    static const uint8_t changes[] = {0x01, 0x20, 0x80, 0xff};
    for (size_t at = 0; at < size; at++) {
        uint8_t byte = data[at];
        LLVMFuzzerTestOneInput(data, at);
        data[at] = (uint8_t)(byte ^ changes[at % sizeof(changes)]);
        LLVMFuzzerTestOneInput(data, size);
        data[at] = byte;
    }
}

static int replay(const char *path)
{
    uint8_t *data = malloc(LIMIT_FILE_BYTES);
    FILE *file = fopen(path, "rb");
    if (file == NULL || data == NULL) {
        perror(path);
        free(data);
        return 1;
    }
    size_t size = fread(data, 1, LIMIT_FILE_BYTES, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    replay_mutations(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int status = argc < 2;
    for (int i = 1; i < argc; i++)
        status |= replay(argv[i]);
    return status;
}
#endif
