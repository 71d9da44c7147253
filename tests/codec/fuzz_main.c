/* fuzz_main - runs a libFuzzer target over the files named on the command line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_MAX = 2 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(INPUT_MAX);
    if (file == NULL || data == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
        free(data);
        if (file != NULL)
            fclose(file);
        return 1;
    }
    size_t size = fread(data, 1, INPUT_MAX, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failures = 0;
    for (int at = 1; at < argc; at++)
        failures += replay(argv[at]);
    printf("%d files\n", argc - 1);
    return failures > 0 || argc < 2;
}
