#include "settings/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/secret_name.h"
#include "core/queue_item.h"
#include "log/log_line.h"
#include "settings/option.h"
#include "settings/value.h"
#include "store/storeurl.h"

enum { FILE_MAX = 1024 * 1024, QUEUES_MAX = 4096 };

#define BLANKS " \t\v\f\r" /* what libinih passes over */

struct culex_config_text {
    struct culex_config_text *next;
    char text[];
};

struct reading {
    const char *path;
    FILE *file;
    struct culex_settings *settings;
    struct culex_config_spot *spot;
    culex_error *error;
    culex_status status; /* once it is a failure, nothing more is read */
    char *line;          /* as it stands in the file, without its end */
    size_t line_size;
    int line_number;
    int option_lines[CULEX_OPTION_MAX]; /* where each was given first; 0: nowhere */
    const char *option_texts[CULEX_OPTION_MAX];
    bool is_in_queue; /* the last of settings->queue_options */
    int weight_line, concurrency_line;
};

/* --- what is wrong ---------------------------------------------------------------------------- */

static const char *name_of(const struct reading *reading)
{
    return reading->line + strspn(reading->line, BLANKS);
}

/* A URL, with a password or a bad beginning, a key, or something that is called so: in a file that
 * may be any, all doubts count. */
static bool may_be_secret(const char *line)
{
    static const char *const signs[] = {"url", "redis", "//", "pass", "secret", "key"};
    bool has_sign = culex__text_is_secret(line);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        has_sign |= strcasestr(line, signs[i]) != NULL;
    return has_sign;
}

/* In front of the text that is there, and what of the line it is about. */
static int spot_fail(struct reading *reading, const char *at, size_t len)
{
    struct culex_config_spot *spot = reading->spot;
    const char *line = name_of(reading);
    culex__error_context(reading->error, "%s:%d", culex__text_shown(reading->path),
                         reading->line_number);
    if (reading->error != NULL)
        reading->error->code = CULEX_EUSAGE;
    reading->status = CULEX_EUSAGE;
    if (!may_be_secret(line) && strlen(line) < sizeof spot->line) {
        strcpy(spot->line, line);
        spot->at = (size_t)(at - line);
        spot->len = len > 0 ? len : 1;
    }
    return 0;
}

static int name_fail(struct reading *reading)
{
    const char *name = name_of(reading);
    size_t len = strcspn(name, "=:");
    while (len > 1 && strchr(BLANKS, name[len - 1]) != NULL)
        len--;
    return spot_fail(reading, name, len);
}

static int value_fail(struct reading *reading, const char *value)
{
    const char *from = name_of(reading);
    from += strcspn(from, "=:");
    from += *from != '\0';
    from += strspn(from, BLANKS);
    return spot_fail(reading, from, strlen(value));
}

/* The same where the reason quotes the value. */
static int quoted_fail(struct reading *reading, const char *name, const char *value)
{
    if (may_be_secret(reading->line))
        culex__fail(reading->error, CULEX_EUSAGE,
                    "%s does not take this value, which is not shown: it may hold a password",
                    name);
    return value_fail(reading, value);
}

static int line_fail(struct reading *reading)
{
    const char *from = name_of(reading);
    return spot_fail(reading, from, strlen(from));
}

static int twice_fail(struct reading *reading, const char *name, int first)
{
    culex__fail(reading->error, CULEX_EUSAGE, "%s is given twice, first in line %d; leave one",
                name, first);
    return name_fail(reading);
}

/* --- texts ----------------------------------------------------------------------------------- */

/* "before,text", or the text alone, for as long as the settings live. NULL when out of memory. */
static const char *text_keep(struct culex_settings *settings, const char *before, const char *text)
{
    size_t size = (before != NULL ? strlen(before) + 1 : 0) + strlen(text) + 1;
    struct culex_config_text *kept = malloc(sizeof *kept + size);
    if (kept == NULL)
        return NULL;
    snprintf(kept->text, size, "%s%s%s", before != NULL ? before : "", before != NULL ? "," : "",
             text);
    kept->next = settings->config_texts;
    settings->config_texts = kept;
    return kept->text;
}

static const char *text_need(struct reading *reading, const char *before, const char *text)
{
    const char *kept = text_keep(reading->settings, before, text);
    if (kept == NULL)
        reading->status = culex__fail(reading->error, CULEX_ENOMEM, "no memory for what %s says",
                                      culex__text_shown(reading->path));
    return kept;
}

void culex__config_texts_free(struct culex_config_text *texts)
{
    while (texts != NULL) {
        struct culex_config_text *next = texts->next;
        free(texts);
        texts = next;
    }
}

/* --- options of the worker ------------------------------------------------------------------- */

/* The URL has more to say of these, and its word counts for more than a variable's: here they would
 * need a place between the two. */
static int layered_fail(struct reading *reading, const struct culex_option *option)
{
    culex__fail(reading->error, CULEX_EUSAGE, "%s belongs into the store's URL: ...?%s=%s",
                option->name, option->name, option->value);
    return name_fail(reading);
}

static bool is_for_files(const struct culex_option *option)
{
    return option->owner != CULEX_OPTION_OF_LIVE && option->variable != NULL &&
           option->kind != CULEX_OPTION_CONFIG;
}

static int unknown_fail(struct reading *reading, const char *name)
{
    struct culex__nearest nearest = {.word = name};
    char meant[128];
    for (size_t i = 0; i < culex__option_count; i++) {
        if (is_for_files(&culex__options[i]) && !culex__option_is_layered(&culex__options[i]))
            culex__nearest_offer(&nearest, culex__options[i].name);
    }
    culex__fail(reading->error, CULEX_EUSAGE, "unknown option '%s'%s",
                culex__head_shown(name, reading->line), culex__nearest_ask(&nearest, meant));
    return name_fail(reading);
}

static bool is_text_of(const struct culex_option *option, size_t offset)
{
    return option->kind == CULEX_OPTION_TEXT && option->offset == offset;
}

static bool names_secret_file(const struct culex_option *option)
{
    return is_text_of(option, CULEX_OPTION_AT(url_file)) ||
           is_text_of(option, CULEX_OPTION_AT(keys));
}

static bool value_is_plain(struct reading *reading, const struct culex_option *option,
                           const char *value)
{
    if (value[0] == '"' || value[0] == '\'')
        culex__fail(reading->error, CULEX_EUSAGE, "%s: write the value without quotes",
                    option->name);
    else if (strstr(value, " #") != NULL || strstr(value, "\t#") != NULL)
        culex__fail(reading->error, CULEX_EUSAGE, "%s: a comment behind a value begins with ';'",
                    option->name);
    else if (names_secret_file(option) && culex__name_is_secret(value))
        culex__fail(reading->error, CULEX_EUSAGE,
                    "%s: that looks like a URL or a key, and not like the path of a file that "
                    "holds one (write ./ in front where a path looks so)",
                    option->name);
    else if (is_text_of(option, CULEX_OPTION_AT(url)) && culex__store_url_has_password(value))
        culex__fail(reading->error, CULEX_EUSAGE,
                    "url: a password does not belong here: put the URL into a file of its own "
                    "(url-file, mode 0600), or the password into CULEX_PASSWORD");
    else
        return true;
    return false;
}

static bool is_list(const struct culex_option *option)
{
    return option->kind == CULEX_OPTION_QUEUES || option->kind == CULEX_OPTION_OFFERS;
}

static int option_set(struct reading *reading, size_t index, const char *value)
{
    const struct culex_option *option = &culex__options[index];
    int *first = &reading->option_lines[index];
    if (culex__option_is_layered(option))
        return layered_fail(reading, option);
    if (*first > 0 && !is_list(option))
        return twice_fail(reading, option->name, *first);
    if (!value_is_plain(reading, option, value))
        return value_fail(reading, value);
    const char *text = text_need(reading, reading->option_texts[index], value);
    if (text == NULL)
        return 0;
    *first = reading->line_number;
    reading->option_texts[index] = text;
    culex_status status =
        culex__value_apply(reading->settings, option, option->name, text, reading->error);
    return status == CULEX_OK || quoted_fail(reading, option->name, value);
}

static int option_take(struct reading *reading, const char *name, const char *value)
{
    for (size_t i = 0; i < culex__option_count; i++) {
        if (is_for_files(&culex__options[i]) && strcmp(culex__options[i].name, name) == 0)
            return option_set(reading, i, value);
    }
    return unknown_fail(reading, name);
}

/* --- options of a queue ---------------------------------------------------------------------- */

static int queue_number_take(struct reading *reading, const char *name, const char *value, int max,
                             int *first, unsigned *ret_number)
{
    char *end;
    long number = strtol(value, &end, 10);
    if (*first > 0)
        return twice_fail(reading, name, *first);
    *first = reading->line_number;
    if (strspn(value, "0123456789") != strlen(value) || *end != '\0' || number < 1 ||
        number > max) {
        culex__fail(reading->error, CULEX_EUSAGE, "%s: '%s' is not a whole number from 1 to %d",
                    name, value, max);
        return quoted_fail(reading, name, value);
    }
    *ret_number = (unsigned)number;
    return 1;
}

static int queue_unknown_fail(struct reading *reading, const char *name)
{
    struct culex__nearest nearest = {.word = name};
    char meant[128];
    for (size_t i = 0; i < culex__option_count; i++) {
        if (is_for_files(&culex__options[i]) && strcmp(culex__options[i].name, name) == 0) {
            culex__fail(reading->error, CULEX_EUSAGE,
                        "%s is an option of the worker, not of a queue: write it before the first "
                        "section",
                        name);
            return name_fail(reading);
        }
    }
    culex__nearest_offer(&nearest, "weight");
    culex__nearest_offer(&nearest, "concurrency");
    culex__fail(reading->error, CULEX_EUSAGE,
                "unknown option '%s' of a queue%s (there are weight and concurrency)",
                culex__head_shown(name, reading->line), culex__nearest_ask(&nearest, meant));
    return name_fail(reading);
}

static int queue_option_take(struct reading *reading, const char *name, const char *value)
{
    struct culex_settings *settings = reading->settings;
    culex_queue_options *queue = &settings->queue_options[settings->options.queue_option_count - 1];
    if (strcmp(name, "weight") == 0)
        return queue_number_take(reading, name, value, CULEX_WEIGHT_MAX, &reading->weight_line,
                                 &queue->weight);
    if (strcmp(name, "concurrency") == 0)
        return queue_number_take(reading, name, value, CULEX_QUEUE_MOST_MAX,
                                 &reading->concurrency_line, &queue->concurrency);
    return queue_unknown_fail(reading, name);
}

static bool queue_add(struct reading *reading, const char *name)
{
    struct culex_settings *settings = reading->settings;
    size_t count = settings->options.queue_option_count;
    const char *text = text_need(reading, NULL, name);
    culex_queue_options *rows = realloc(settings->queue_options, (count + 1) * sizeof *rows);
    if (rows != NULL)
        settings->options.queue_options = settings->queue_options = rows;
    else
        reading->status =
            culex__fail(reading->error, CULEX_ENOMEM, "no memory for a queue's options");
    if (text == NULL || rows == NULL)
        return false;
    rows[count] = (culex_queue_options){.queue = text};
    settings->options.queue_option_count = count + 1;
    reading->weight_line = reading->concurrency_line = 0;
    reading->is_in_queue = true;
    return true;
}

static int queue_begin(struct reading *reading, const char *name)
{
    const struct culex_settings *settings = reading->settings;
    culex_status status = culex__queue_pattern_check(name, reading->error);
    for (size_t i = 0; i < settings->options.queue_option_count && status == CULEX_OK; i++) {
        if (strcmp(settings->queue_options[i].queue, name) == 0)
            status = culex__fail(reading->error, CULEX_EUSAGE, "queue '%s' has two sections",
                                 culex__text_shown(name));
    }
    if (status == CULEX_OK && settings->options.queue_option_count == QUEUES_MAX)
        status = culex__fail(reading->error, CULEX_EUSAGE, "more than %d sections", QUEUES_MAX);
    if (status != CULEX_OK)
        return line_fail(reading);
    return queue_add(reading, name);
}

/* libinih would cut a long name, and tells nothing of a section without options. */
static int section_take(struct reading *reading)
{
    static const char head[] = "[queue ";
    const char *from = name_of(reading);
    size_t len = strcspn(from, "]");
    const char *rest = from[len] == ']' ? from + len + 1 : NULL;
    rest = rest != NULL ? rest + strspn(rest, BLANKS) : NULL;
    char name[CULEX_QUEUE_NAME_MAX + 2];
    bool is_queue = strncmp(from, head, sizeof head - 1) == 0 && rest != NULL &&
                    (*rest == '\0' || *rest == ';' || *rest == '#');
    if (!is_queue) {
        culex__fail(reading->error, CULEX_EUSAGE, "a section is [queue NAME], and nothing else");
        return line_fail(reading);
    }
    const char *begin = from + sizeof head - 1;
    begin += strspn(begin, BLANKS);
    snprintf(name, sizeof name, "%.*s", (int)(from + len - begin), begin);
    return queue_begin(reading, name);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Nonzero to go on. What libinih would take for something else, or pass over, does not reach it. */
static int line_check(struct reading *reading, size_t len, size_t room)
{
    const char *from = name_of(reading);
    if (strlen(reading->line) != len) {
        culex__fail(reading->error, CULEX_EUSAGE, "there is a zero byte in the line");
        return spot_fail(reading, from, 1);
    }
    if (*from == '[')
        return section_take(reading);
    if (strchr(";#", *from) != NULL)
        return 1;
    if (strpbrk(from, "=:") == NULL || *from == '=' || *from == ':') {
        culex__fail(reading->error, CULEX_EUSAGE, "a line is NAME = VALUE, or [queue NAME]");
        return line_fail(reading);
    }
    if (len + 2 > room) {
        culex__fail(reading->error, CULEX_EUSAGE,
                    "a line has at most %zu bytes; `queues` and `offer` may stand on several lines",
                    room - 2);
        return spot_fail(reading, from, 1);
    }
    return 1;
}

/* Comments and sections end here, and a line that is indented goes on with nothing. */
static char *line_next(char *text, int size, void *stream)
{
    struct reading *reading = stream;
    ssize_t len = -1;
    if (reading->status == CULEX_OK)
        len = getline(&reading->line, &reading->line_size, reading->file);
    if (len < 0)
        return NULL;
    reading->line_number++;
    if (len > 0 && reading->line[len - 1] == '\n')
        reading->line[--len] = '\0';
    if (len > 0 && reading->line[len - 1] == '\r')
        reading->line[--len] = '\0';
    if (reading->line_number == 1 && strncmp(reading->line, "\xef\xbb\xbf", 3) == 0)
        memmove(reading->line, reading->line + 3, (size_t)(len -= 3) + 1);
    if (!line_check(reading, (size_t)len, (size_t)size))
        return NULL;
    const char *from = name_of(reading);
    snprintf(text, (size_t)size, "%s\n", strchr("[;#", *from) == NULL ? from : "");
    return text;
}

static int pair_take(void *user, const char *section, const char *name, const char *value)
{
    struct reading *reading = user;
    (void)section;
    if (reading->status != CULEX_OK)
        return 0;
    return reading->is_in_queue ? queue_option_take(reading, name, value)
                                : option_take(reading, name, value);
}

/* --- the file -------------------------------------------------------------------------------- */

static culex_status cannot_read(const char *path, const char *why, culex_error *error)
{
    return culex__fail(error, CULEX_EUSAGE, "configuration file %s: %s", culex__text_shown(path),
                       why);
}

/* Not blocking: a path may name a pipe. */
static culex_status file_open(const char *path, FILE **ret_file, culex_error *error)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return cannot_read(path, strerror(errno), error);
    const char *why = fstat(fd, &info) < 0      ? strerror(errno)
                      : !S_ISREG(info.st_mode)  ? "it is no regular file"
                      : info.st_size > FILE_MAX ? "it is larger than 1 MiB"
                                                : NULL;
    *ret_file = why == NULL ? fdopen(fd, "r") : NULL;
    if (*ret_file != NULL)
        return CULEX_OK;
    culex_status status = cannot_read(path, why != NULL ? why : strerror(errno), error);
    close(fd);
    return status;
}

culex_status culex__config_file_read(const char *path, struct culex_settings *settings,
                                     struct culex_config_spot *ret_spot, culex_error *error)
{
    culex_error own;
    struct reading reading = {.path = path,
                              .settings = settings,
                              .spot = ret_spot,
                              .error = error != NULL ? error : &own};
    *ret_spot = (struct culex_config_spot){.at = 0};
    culex_status status = file_open(path, &reading.file, error);
    if (status != CULEX_OK)
        return status;
    int failed = ini_parse_stream(line_next, &reading, pair_take, &reading);
    if (reading.status == CULEX_OK && ferror(reading.file))
        reading.status = cannot_read(path, "it cannot be read", reading.error);
    if (reading.status == CULEX_OK && failed != 0) /* libinih found no '=' before a comment */
        reading.status = culex__fail(reading.error, CULEX_EUSAGE,
                                     "%s:%d: a line is NAME = VALUE, or [queue NAME]",
                                     culex__text_shown(path), failed);
    fclose(reading.file);
    free(reading.line);
    return reading.status;
}

/* How many columns the line has from `begin` on. */
static size_t columns(const struct culex_log_line *line, size_t begin)
{
    size_t count = 0;
    for (size_t i = begin; i < line->len; i++)
        count += ((unsigned char)line->text[i] & 0xc0) != 0x80;
    return count;
}

void culex__config_spot_put(struct culex_log_line *line, const struct culex_config_spot *spot)
{
    const char *at = spot->line + spot->at;
    line->len = 0;
    if (spot->line[0] == '\0')
        return;
    culex__log_line_put_foreign(line, spot->line, spot->at, CULEX_LOG_TEXT);
    size_t before = columns(line, 0), begin = line->len;
    culex__log_line_put_foreign(line, at, spot->len, CULEX_LOG_TEXT);
    size_t width = columns(line, begin);
    culex__log_line_put_foreign(line, at + strnlen(at, spot->len), sizeof spot->line,
                                CULEX_LOG_TEXT);
    culex__log_line_put(line, "\n");
    for (size_t i = 0; i < before; i++)
        culex__log_line_put(line, " ");
    culex__log_line_put(line, "^");
    for (size_t i = 1; i < width; i++)
        culex__log_line_put(line, "~");
    culex__log_line_put(line, "\n");
}
