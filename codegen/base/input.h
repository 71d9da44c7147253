/* input.h - the bytes of a schema file, at most LIMIT_FILE_BYTES of them. */
#ifndef CULEXC_INPUT_H
#define CULEXC_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct overlay;

struct input {
    char *bytes; /* free() releases them */
    size_t size;
    uint64_t device, inode;
    const struct overlay *overlay; /* what was read instead, see module.h; NULL: the file */
};

/* NULL, or why the file cannot be read: a sentence; there is nothing to release then. Only a
 * regular file is read. */
const char *input_read(const char *path, struct input *ret_input);

/* The same for what is open already, of any kind. */
const char *input_read_open(int fd, struct input *ret_input);

#endif
