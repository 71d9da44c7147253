/* fuzz_main - runs a fuzz target without libFuzzer, the same way each time:
 *
 *     PROGRAM TAKEN FOLDER...
 *
 * Each file of the folders goes in as it is, cut after every byte, with every byte changed once,
 * and with a few bytes changed at random. TAKEN is how many of the files the target must find good.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum {
    INPUT_MAX = 2 * 1024 * 1024,
    CHANGED_MAX = 16 * 1024, /* larger files are tried as they are */
    ROUNDS = 5000
};

static uint64_t noise = 88172645463325252u;

static size_t below(size_t bound)
{
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return (size_t)(noise % bound);
}

/* In memory of exactly its size, so that AddressSanitizer sees a read behind the end. */
static void try_bytes(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void try_each_byte(uint8_t *data, size_t size)
{
    static const uint8_t changes[] = {0x01, 0x20, 0x80, 0xff};
    for (size_t at = 0; at < size; at++) {
        uint8_t byte = data[at];
        try_bytes(data, at);
        data[at] = (uint8_t)(byte ^ changes[at % sizeof changes]);
        try_bytes(data, size);
        data[at] = byte;
    }
}

/* Mostly bytes of the file itself: they are the ones that mean something. */
static void try_random(const uint8_t *data, size_t size)
{
    static uint8_t changed[CHANGED_MAX];
    memcpy(changed, data, size);
    for (size_t count = 1 + below(4); count > 0; count--)
        changed[below(size)] = below(3) > 0 ? data[below(size)] : (uint8_t)below(256);
    try_bytes(changed, below(8) > 0 ? size : below(size));
}

/* True when the target found the file good. */
static bool replay(uint8_t *data, size_t size)
{
    unsigned before = fuzz_taken;
    try_bytes(data, size);
    bool is_taken = fuzz_taken > before;
    if (size == 0 || size > CHANGED_MAX)
        return is_taken;
    try_each_byte(data, size);
    for (int round = 0; round < ROUNDS; round++)
        try_random(data, size);
    return is_taken;
}

static size_t file_read(const char *path, uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    size_t size = fread(data, 1, INPUT_MAX, file);
    fclose(file);
    return size;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The files in the order of their names, so that every run is the same. */
static void folder_replay(const char *folder, int *files, int *taken)
{
    static uint8_t data[INPUT_MAX];
    char path[4096];
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int at = 0; at < count; at++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[at]->d_name);
        *taken += replay(data, file_read(path, data));
        free(entries[at]);
    }
    free(entries);
    *files += count;
}

int main(int argc, char **argv)
{
    int files = 0;
    int taken = 0;
    for (int at = 2; at < argc; at++)
        folder_replay(argv[at], &files, &taken);
    printf("%d files, %d of them good; %s expected\n", files, taken, argc > 1 ? argv[1] : "?");
    return argc < 3 || taken != atoi(argv[1]);
}
