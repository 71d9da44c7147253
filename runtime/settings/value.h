/* settings/value.h - the text of one option's value: what it means, and its place in the settings.
 */
#ifndef CULEX_SETTINGS_VALUE_H
#define CULEX_SETTINGS_VALUE_H

#include "settings/option.h"

/* "500ms", "30s", "1.5s", "5m", "2h", "1d", "0" to ms; false when it is anything else or
 * more than 10000 days. */
bool culex__span_parse(const char *text, int64_t *ret_ms);

/* CULEX_EUSAGE with a text that begins with `from`, where the value was found: "--NAME" on the
 * command line, else a variable or a URL. `value` is borrowed where it is a text; NULL for an
 * option that takes none. No text shows a value that looks like a secret (base/secret_name.h). */
culex_status culex__value_apply(struct culex_settings *settings, const struct culex_option *option,
                                const char *from, const char *value, culex_error *error);

#endif
