/* settings/config_file.h - a worker's options in a file.
 *
 *   url = redis://127.0.0.1:6379/0
 *   concurrency = 8
 *
 *   [queue mail]
 *   weight = 3
 *   concurrency = 2
 *
 * INI, read by libinih. The names are those of the command line without their dashes, and stand
 * before the first section; a section says what holds for one queue, or for those of a pattern. A
 * line begins with ';' or '#' where it is a comment, and ends where a ';' stands behind a blank.
 * `queues` and `offer` may stand on several lines, whose lists make one. */
#ifndef CULEX_SETTINGS_CONFIG_FILE_H
#define CULEX_SETTINGS_CONFIG_FILE_H

#include <stddef.h>

#include <culex/error.h>

struct culex_settings;
struct culex_log_line;

/* Where in its line something is wrong. */
struct culex_config_spot {
    char line[256]; /* without blanks in front; "" for none */
    size_t at, len; /* bytes of it */
};

/* What a file has said: texts that the options point to. */
struct culex_config_text;

/* Sets what the file says. CULEX_EUSAGE with a text that begins with the file's name and the line,
 * which *ret_spot shows; also when it cannot be read. */
culex_status culex__config_file_read(const char *path, struct culex_settings *settings,
                                     struct culex_config_spot *ret_spot, culex_error *error);

void culex__config_texts_free(struct culex_config_text *texts);

/* Two lines: the one at fault, and below it a caret with as many tildes as it takes. Nothing for no
 * line. */
void culex__config_spot_put(struct culex_log_line *line, const struct culex_config_spot *spot);

#endif
