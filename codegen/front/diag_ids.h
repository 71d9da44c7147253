/* diag_ids.h - every diagnostic: symbol, stable id, severity, explanation.
 *
 * An id never changes its meaning, for people search for it. Each has a golden
 * test tests/front/check/ID.job; a test fails on an id without one. No include
 * guard: this table is included with DIAG defined by whoever needs a column. */
DIAG(INVALID_UTF8, "invalid-utf8", ERROR, "A schema file is UTF-8 text. Save it in that encoding.")
DIAG(STRAY_CHARACTER, "stray-character", ERROR,
     "This character has no place in the language outside strings and comments.")
DIAG(UNTERMINATED_STRING, "unterminated-string", ERROR,
     "A string, a character or bytes must end on the line on which it starts. Write a line break "
     "as \\n.")
DIAG(UNTERMINATED_COMMENT, "unterminated-comment", ERROR,
     "A comment that starts with /* runs to the next */, and there is none.")
DIAG(BAD_NUMBER, "bad-number", ERROR,
     "A number is decimal (1_000), hexadecimal (0xFF), binary (0b101) or has a fraction (0.5). It "
     "may be followed by a unit of time or size and by nothing else.")
DIAG(BAD_DURATION, "bad-duration", ERROR,
     "A duration is made of the units w d h m s ms us ns, the largest first and each at most once, "
     "as 1h30m. Together they stay below 292 years.")
DIAG(BAD_ESCAPE, "bad-escape", ERROR,
     "The escapes are \\n \\t \\r \\0 \\\\ \\\" \\' \\xHH and \\u{CODE}.")
DIAG(BAD_STRING, "bad-string", ERROR,
     "Strings are UTF-8 and hold no NUL, for they become C strings. Other bytes belong in a param "
     "of type bytes.")
DIAG(BAD_CHAR, "bad-char", ERROR, "A character is one byte: 'x', '\\n' or '\\xE9'.")
DIAG(BAD_BYTES, "bad-bytes", ERROR, "Bytes are pairs of hexadecimal digits: x\"00ff\".")
DIAG(SYNTAX, "syntax", ERROR,
     "The text does not follow the grammar at this place. The message says what was expected.")
DIAG(UNKNOWN_DECLARATION, "unknown-declaration", ERROR,
     "A file declares enums, structs, retry policies, defaults and jobs.")
DIAG(UNKNOWN_SETTING, "unknown-setting", ERROR,
     "A job is made of params, returns and settings; a retry policy of max, backoff and jitter.")
DIAG(UNKNOWN_WORD, "unknown-word", ERROR, "At this place only a few words have a meaning.")
DIAG(BAD_FILE_NAME, "bad-file-name", ERROR,
     "The name of a schema file becomes part of the names of generated files and of an include "
     "guard.")
DIAG(BAD_IMPORT_PATH, "bad-import-path", ERROR,
     "An import is relative to an -I folder or to the folder of the importing file, and stays "
     "inside it: no leading '/', no '.' and '..'.")
DIAG(IMPORT_NOT_FOUND, "import-not-found", ERROR,
     "The imported file is in none of the folders given by -I and not beside the importing file, "
     "or it cannot be read.")
DIAG(IMPORT_CYCLE, "import-cycle", ERROR,
     "Files that import each other have no order in which to be compiled. Move what both need to a "
     "third file.")
DIAG(IMPORT_TOO_DEEP, "import-too-deep", ERROR, "Imports may be nested 32 deep.")
DIAG(DUPLICATE_IMPORT, "duplicate-import", ERROR, "One import of a file is enough.")
DIAG(UNUSED_IMPORT, "unused-import", WARNING,
     "Nothing of the imported file is used. Imports are not passed on, so it can go.")
DIAG(HEADER_COLLISION, "header-collision", ERROR,
     "Generated headers are named after the schema file alone, without its folder. Rename one of "
     "the two files.")
DIAG(BAD_NAME, "bad-name", ERROR,
     "A name is letters, digits and single underscores inside it. C reserves the rest.")
DIAG(NAME_TOO_LONG, "name-too-long", ERROR, "A name has at most 64 characters.")
DIAG(RESERVED_NAME, "reserved-name", ERROR,
     "The generated C would use a name that belongs to C, C++, the C library or Culex.")
DIAG(C_NAME_COLLISION, "c-name-collision", ERROR,
     "Two names of the schema become one name in C: packages and names are joined by underscores, "
     "constants are upper case, an optional param adds has_NAME and a list adds NAME_len.")
DIAG(DUPLICATE_NAME, "duplicate-name", ERROR, "A name means one thing in its block or package.")
DIAG(DUPLICATE_VALUE, "duplicate-value", ERROR,
     "Two values of an enum have the same name or number.")
DIAG(DUPLICATE_WIRE_NAME, "duplicate-wire-name", ERROR,
     "By way of [[was]] two params or two jobs would have the same name in a payload or a queue.")
DIAG(RESERVED_REUSED, "reserved-reused", ERROR,
     "A reserved name or number was used once. Queued runs and old workers may still know it by "
     "its old meaning, so it cannot come back with another.")
DIAG(RESERVED_NUMBER, "reserved-number", ERROR,
     "Params and fields have names and no numbers; only a name can be reserved.")
DIAG(UNKNOWN_TYPE, "unknown-type", ERROR,
     "A type is built in, declared in this file or declared in a file that this one imports "
     "itself. A name without its package is looked up from the own package outward.")
DIAG(NOT_A_TYPE, "not-a-type", ERROR, "Only enums and structs can be the type of a param.")
DIAG(BAD_ENUM_BASE, "bad-enum-base", ERROR, "An enum is stored as an integer of up to 64 bits.")
DIAG(EMPTY_TYPE, "empty-type", ERROR, "C has no empty structs and enums.")
DIAG(RECURSIVE_STRUCT, "recursive-struct", ERROR,
     "A struct cannot contain itself, not even in a list: every payload has a bounded depth.")
DIAG(STRUCT_TOO_DEEP, "struct-too-deep", ERROR, "Structs may be nested 16 deep.")
DIAG(STRUCT_TOO_LARGE, "struct-too-large", ERROR,
     "With its arrays multiplied out, a struct may hold a million values.")
DIAG(BAD_COUNT, "bad-count", ERROR, "The length of an array or list is 1 to 65535.")
DIAG(OPTIONAL_LIST, "optional-list", ERROR,
     "A list that is not given is empty, so there is nothing that 'optional' could add.")
DIAG(VALUE_TYPE, "value-type", ERROR, "The value is not of the type that is needed here.")
DIAG(VALUE_RANGE, "value-range", ERROR, "The value does not fit in the type.")
DIAG(UNKNOWN_VALUE, "unknown-value", ERROR, "The enum has no value of this name.")
DIAG(OPTIONAL_DEFAULT, "optional-default", ERROR,
     "A param is optional (it may be absent) or has a default (it never is).")
DIAG(DEFAULT_NOT_ALLOWED, "default-not-allowed", ERROR,
     "Lists, arrays and structs have no default.")
DIAG(DEFAULT_LIMIT, "default-limit", ERROR, "A default must keep the limits of its param.")
DIAG(UNKNOWN_ATTRIBUTE, "unknown-attribute", ERROR,
     "Attributes that start with x_ are free; of the others only the documented ones exist.")
DIAG(DUPLICATE_ATTRIBUTE, "duplicate-attribute", ERROR, "An attribute is given once.")
DIAG(ATTRIBUTE_MISPLACED, "attribute-misplaced", ERROR,
     "The attribute has no meaning for this kind of declaration or this type.")
DIAG(ATTRIBUTE_ARGUMENT, "attribute-argument", ERROR, "The attribute needs other arguments.")
DIAG(ATTRIBUTE_CONFLICT, "attribute-conflict", ERROR,
     "Two attributes contradict each other, or no value could satisfy them.")
DIAG(DUPLICATE_SETTING, "duplicate-setting", ERROR, "A setting or block is given once.")
DIAG(SETTING_MISPLACED, "setting-misplaced", ERROR,
     "unique, concurrency, rate, every and cron belong to one job.")
DIAG(OUT_OF_RANGE, "out-of-range", ERROR, "The setting has bounds and the value is outside.")
DIAG(DURATION_TOO_FINE, "duration-too-fine", ERROR,
     "Settings are kept in whole milliseconds. Params of type duration have nanoseconds.")
DIAG(BAD_QUEUE_NAME, "bad-queue-name", ERROR,
     "A queue name becomes part of keys and of command lines, so it is kept plain.")
DIAG(BAD_TAG, "bad-tag", ERROR, "Tags are kept as plain as queue names.")
DIAG(UNKNOWN_POLICY, "unknown-policy", ERROR,
     "The retry policy is not declared here or in an imported file.")
DIAG(BAD_KEY, "bad-key", ERROR,
     "A key of unique, concurrency or rate must always have one comparable value: it is not "
     "optional, not a list, a struct or a float, and not secret.")
DIAG(UNKNOWN_PARAM, "unknown-param", ERROR, "'by' names params of the job.")
DIAG(BAD_CRON, "bad-cron", ERROR,
     "Five fields: minute hour day month weekday, each of numbers, names, lists, ranges and steps; "
     "or one of @hourly @daily @weekly @monthly @yearly.")
DIAG(CRON_NEVER, "cron-never", ERROR, "The day does not exist in any of the months.")
DIAG(BAD_TIME_ZONE, "bad-time-zone", ERROR, "A time zone is named as in the tz database.")
DIAG(EVERY_AND_CRON, "every-and-cron", ERROR, "A job has one schedule.")
DIAG(PERIODIC_REQUIRED, "periodic-required", ERROR,
     "The scheduler starts periodic jobs without params, so every param needs a default or must be "
     "optional.")
DIAG(RETRY_AFTER_EXPIRY, "retry-after-expiry", WARNING,
     "A run that was not started by its expiry is dead, so the later retries never happen.")
DIAG(TOO_MANY, "too-many", ERROR, "The schema exceeds a limit of the compiler.")
DIAG(NOT_YET_SUPPORTED, "not-yet-supported", ERROR,
     "The language knows this setting and the runtime does not yet, so code that would ignore it "
     "is not generated. 'check' and 'ir' accept it.")
