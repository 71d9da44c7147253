/* words.h - where words of the language may stand, and what they do there. */
#ifndef CULEXC_WORDS_H
#define CULEXC_WORDS_H

#include <stdint.h>

/* Kinds of places. What may stand somewhere is a set of them. */
#define WORD_PLACES(X)                                                                             \
    X(FILE)                                                                                        \
    X(JOB)                                                                                         \
    X(SETTING) /* of a job or of defaults */                                                       \
    X(POLICY)                                                                                      \
    X(RETRY)                                                                                       \
    X(BACKOFF)                                                                                     \
    X(GROWTH) /* behind a backoff's first delay */                                                 \
    X(SPREAD) /* behind jitter */                                                                  \
    X(KEEP)                                                                                        \
    X(UNIQUE)                                                                                      \
    X(STATE)                                                                                       \
    X(ALL) /* in place of a list of params */                                                      \
    X(CONFLICT)                                                                                    \
    X(BY)                                                                                          \
    X(PER)                                                                                         \
    X(BURST)                                                                                       \
    X(EVERY)                                                                                       \
    X(ZONE)                                                                                        \
    X(MISSED)                                                                                      \
    X(CATCHUP)                                                                                     \
    X(OVERLAP)                                                                                     \
    X(OVERLAPS)                                                                                    \
    X(FIELD)                                                                                       \
    X(ENUM)                                                                                        \
    X(BOOL)                                                                                        \
    X(TYPE)                                                                                        \
    X(BASE)    /* of an enum */                                                                    \
    X(WRITTEN) /* what a type of the user is written as */                                         \
    X(WITH)                                                                                        \
    X(ON_FIELD)                                                                                    \
    X(ON_PARAM)                                                                                    \
    X(ON_RESULT)                                                                                   \
    X(ON_JOB)                                                                                      \
    X(ON_ENUM)                                                                                     \
    X(ON_STRUCT)                                                                                   \
    X(ON_VALUE)                                                                                    \
    X(STEP)       /* of a chain: the name of a job */                                              \
    X(PARAM_NAME) /* the names of things that the schema declares */                               \
    X(DEFAULT)                                                                                     \
    X(IMPORT_PATH)

enum word_place {
#define X(name) PLACE_##name,
    WORD_PLACES(X)
#undef X
        PLACE_COUNT
};

#define PLACE_SET(name) (UINT64_C(1) << PLACE_##name)

struct word {
    uint64_t places;
    const char *word;
    const char *text; /* Markdown without links and lists */
};

/* Ends with a zeroed one. */
extern const struct word words[];

/* The meaning that `text` has at one of `places`, NULL: none. */
const struct word *word_find(const char *text, uint64_t places);

#endif
