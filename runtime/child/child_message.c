#include "child/child_message.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "handler/errand.h"
#include "handler/follow_up.h"
#include "handler/kept_lines.h"

/* Nothing that steers a terminal or ends a line early. */
static bool text_is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == 0x7f)
            return false;
    }
    return culex__utf8_is_valid(text, len);
}

/* Error texts and progress may have several lines. */
static bool text_is_clean(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
            return false;
    }
    return culex__utf8_is_valid(text, len);
}

static const char *log_check(const struct culex_child_message *message)
{
    if (message->len == 0 || message->bytes[message->len - 1] != '\n' ||
        !text_is_plain(message->bytes, message->len - 1))
        return "a log line that is none";
    return NULL;
}

static const char *text_check(const struct culex_child_message *message, size_t max)
{
    if (message->len > max)
        return "a text that is too long";
    return text_is_clean(message->bytes, message->len) ? NULL : "a text with control characters";
}

static const char *kept_check(const struct culex_child_message *message)
{
    return culex__kept_lines_is_line(message->bytes, message->len) ? NULL
                                                                   : "a line to keep that is none";
}

static const char *extend_take(struct culex_child_message *message)
{
    struct culex_record_extend extend;
    if (message->len != sizeof extend)
        return "a record of the wrong length";
    memcpy(&extend, message->bytes, sizeof extend);
    message->extend_ms = extend.extend_ms;
    return extend.extend_ms >= 0 ? NULL : "a negative time";
}

/* A part of a result, or of follow-ups. */
static const char *part_take(struct culex_child_message *message, size_t max)
{
    struct culex_record_part part;
    if (message->len < sizeof part)
        return "a record of the wrong length";
    memcpy(&part, message->bytes, sizeof part);
    message->bytes += sizeof part;
    message->len -= sizeof part;
    message->total = part.total;
    message->offset = part.offset;
    if (part.total > max)
        return "a result that is too long, or follow-ups";
    if (part.offset > part.total || message->len > part.total - part.offset)
        return "a part outside its whole";
    return message->len > 0 || part.total == 0 ? NULL : "an empty part of a result";
}

static const char *errand_take(struct culex_child_message *message)
{
    struct culex_record_errand part;
    if (message->len < sizeof part)
        return "a record of the wrong length";
    memcpy(&part, message->bytes, sizeof part);
    message->bytes += sizeof part;
    message->len -= sizeof part;
    message->number = part.number;
    message->total = part.total;
    message->offset = part.offset;
    if (part.total > CULEX_ERRAND_MAX)
        return "an errand that is too long";
    if (part.offset > part.total || message->len > part.total - part.offset)
        return "a part outside its errand";
    return message->len > 0 ? NULL : "an empty part of an errand";
}

const char *culex__child_message_parse(const void *packet, size_t len,
                                       struct culex_child_message *ret_message)
{
    struct culex_record record;
    if (len < sizeof record || len > CULEX_PACKET_MAX)
        return "a packet of the wrong length";
    memcpy(&record, packet, sizeof record);
    if (record.len != len - sizeof record)
        return "a record that does not fill its packet";
    struct culex_child_message message = {.type = (enum culex_record_type)record.type,
                                          .seq = record.seq,
                                          .bytes = (const char *)packet + sizeof record,
                                          .len = record.len};
    const char *wrong = "a record of an unknown type";
    switch (record.type) {
    case CULEX_RECORD_WAKE:
    case CULEX_RECORD_READY:
        wrong = record.len == 0 ? NULL : "a record of the wrong length";
        break;
    case CULEX_RECORD_LOG:
        wrong = log_check(&message);
        break;
    case CULEX_RECORD_PROGRESS:
        wrong = text_check(&message, CULEX_PROGRESS_MAX);
        break;
    case CULEX_RECORD_EXTEND:
        wrong = extend_take(&message);
        break;
    case CULEX_RECORD_TEXT:
    case CULEX_RECORD_UNREADY:
        wrong = text_check(&message, CULEX_ERROR_TEXT_MAX);
        break;
    case CULEX_RECORD_RESULT:
        wrong = part_take(&message, CULEX_PAYLOAD_MAX);
        break;
    case CULEX_RECORD_FOLLOW_UPS:
        wrong = part_take(&message, CULEX_FOLLOW_UP_BYTES_MAX);
        break;
    case CULEX_RECORD_KEPT:
        wrong = kept_check(&message);
        break;
    case CULEX_RECORD_ERRAND:
        wrong = errand_take(&message);
        break;
    default:
        break;
    }
    if (wrong == NULL)
        *ret_message = message;
    return wrong;
}
