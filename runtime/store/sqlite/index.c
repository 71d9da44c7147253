/* store/sqlite/index.c - how long the store's file and its log have to be, by the log's index.
 *
 * A page that was written to the log and not yet back into the file may lie beyond the file's end;
 * every other page of the database is in the file. Both are told by the log's index (-shm), shared
 * memory that SQLite has mapped already: looking there costs no system call, and no descriptor
 * whose closing would drop SQLite's locks. Its layout is documented and fixed: sqlite.org,
 * "WAL-mode File Format", section 2.
 *
 * The log itself must hold the frames that its index tells of. SQLite never lets the two disagree:
 * frames are in the log before the index tells of them, and the index tells of none any more before
 * the log is begun anew or cut, by whatever checkpoint. */
#include "store/sqlite/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/sqlite.h"

enum {
    REGION_BYTES = 32768,
    PAGES_AT = 136,       /* in the first region, the numbers of its frames' pages */
    FIRST_FRAMES = 4062,  /* of the first region */
    REGION_FRAMES = 4096, /* of each that follows */
    TRIES = 8,            /* to find two looks alike */
};

/* All numbers in the machine's own order. */
struct header {
    uint32_t version, unused, change;
    uint8_t is_ready, is_big_endian;
    uint16_t page_size; /* 1 stands for 65536 */
    uint32_t frames;
    uint32_t pages;
    uint32_t frame_sum[2], salt[2], sum[2];
};

struct index {
    struct header header, again; /* equal, but while somebody is writing them */
    uint32_t written_back;       /* frames that are in the file */
};

static const unsigned char *region_at(const struct culex_sqlite *store, int number)
{
    sqlite3_file *file = NULL;
    volatile void *bytes = NULL;
    int rc = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc != SQLITE_OK || file == NULL || file->pMethods == NULL || file->pMethods->iVersion < 2)
        return NULL;
    rc = file->pMethods->xShmMap(file, number, REGION_BYTES, 0, &bytes);
    return rc == SQLITE_OK ? (const unsigned char *)bytes : NULL;
}

static bool index_read(const struct culex_sqlite *store, struct index *ret_index)
{
    const unsigned char *region = region_at(store, 0);
    if (region == NULL)
        return false;
    memcpy(ret_index, region, sizeof *ret_index);
    return memcmp(&ret_index->header, &ret_index->again, sizeof ret_index->header) == 0;
}

static int64_t page_bytes(const struct header *header)
{
    return header->page_size == 1 ? 65536 : header->page_size;
}

/* Frames and pages count from 1. 0: it could not be read. */
static uint32_t page_of(const struct culex_sqlite *store, uint32_t frame)
{
    uint32_t page, place = frame + (REGION_FRAMES - FIRST_FRAMES) - 1;
    const unsigned char *region = region_at(store, (int)(place / REGION_FRAMES));
    size_t at = frame <= FIRST_FRAMES ? PAGES_AT + (size_t)(frame - 1) * sizeof page
                                      : (size_t)(place % REGION_FRAMES) * sizeof page;
    if (region == NULL)
        return 0;
    memcpy(&page, region + at, sizeof page);
    return page;
}

/* Are the pages after `last`, to the end of the database, in the log only? */
static bool log_holds(const struct culex_sqlite *store, const struct index *index, uint32_t last)
{
    assert(last < index->header.pages && index->written_back <= index->header.frames);
    uint32_t wanted = index->header.pages - last, found = 0;
    if (wanted > index->header.frames - index->written_back)
        return false;
    bool *is_found = calloc(wanted, sizeof *is_found);
    if (is_found == NULL)
        return true;
    for (uint32_t frame = index->written_back + 1; frame <= index->header.frames; frame++) {
        uint32_t page = page_of(store, frame);
        if (page == 0) {
            found = wanted; /* what cannot be read is not taken for damage */
            break;
        }
        if (page <= last || page > index->header.pages || is_found[page - last - 1])
            continue;
        is_found[page - last - 1] = true;
        found++;
    }
    free(is_found);
    return found == wanted;
}

static bool is_sane(const struct index *index)
{
    return index->written_back <= index->header.frames &&
           (index->header.pages == 0 || page_bytes(&index->header) >= 512);
}

static bool is_whole(const struct culex_sqlite *store, const struct index *index, int64_t bytes,
                     const struct culex_sqlite_extent *extent)
{
    /* Nothing was written since the log is new: no more is known than what was seen. */
    if (index->header.pages == 0)
        return bytes >= extent->bytes;
    int64_t last = bytes / page_bytes(&index->header);
    return last >= index->header.pages || log_holds(store, index, (uint32_t)last);
}

static bool is_as_seen(const struct culex_sqlite_extent *extent, const struct index *index,
                       int64_t bytes)
{
    return bytes >= extent->bytes && extent->written_back == index->written_back &&
           memcmp(extent->salt, index->header.salt, sizeof extent->salt) == 0;
}

static void extent_note(struct culex_sqlite_extent *extent, const struct index *index,
                        int64_t bytes)
{
    extent->bytes = bytes;
    extent->written_back = index->written_back;
    memcpy(extent->salt, index->header.salt, sizeof extent->salt);
}

static int64_t wanted_bytes(const struct index *index, const struct culex_sqlite_extent *extent)
{
    return index->header.pages == 0 ? extent->bytes
                                    : index->header.pages * page_bytes(&index->header);
}

/* Judged between two looks at the index that are alike: what was written back before the first was
 * in the file that is measured after it. */
static bool is_cut_now(const struct culex_sqlite *store, struct culex_sqlite_extent *extent,
                       bool *ret_is_certain)
{
    struct index before, after;
    struct stat info;
    *ret_is_certain = index_read(store, &before) && is_sane(&before);
    if (!*ret_is_certain || stat(store->path, &info) != 0)
        return false;
    if (is_whole(store, &before, info.st_size, extent)) {
        extent_note(extent, &before, info.st_size);
        return false;
    }
    *ret_is_certain = index_read(store, &after) && memcmp(&before, &after, sizeof before) == 0;
    if (*ret_is_certain)
        extent->wanted = wanted_bytes(&before, extent);
    return *ret_is_certain;
}

bool culex__sqlite_index_is_cut(const struct culex_sqlite *store, int64_t bytes,
                                struct culex_sqlite_extent *extent)
{
    struct index index;
    bool is_cut = false, is_certain = false;
    if (index_read(store, &index) && is_as_seen(extent, &index, bytes)) {
        extent->bytes = bytes;
        return false;
    }
    for (int tries = 0; tries < TRIES && !is_certain; tries++)
        is_cut = is_cut_now(store, extent, &is_certain);
    return is_cut;
}

/* --- the log ------------------------------------------------------------------------------ */

enum {
    LOG_HEADER_BYTES = 32,
    LOG_SALT_AT = 16, /* in the log */
    FRAME_HEADER_BYTES = 24,
    FRAME_SALT_AT = 8, /* in the frame */
};

static sqlite3_file *log_of(const struct culex_sqlite *store)
{
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return rc == SQLITE_OK && file != NULL && file->pMethods != NULL ? file : NULL;
}

/* Counted from 1; for the one after the last, the log's length. */
static int64_t frame_at(const struct header *header, uint32_t frame)
{
    return LOG_HEADER_BYTES + (int64_t)(frame - 1) * (FRAME_HEADER_BYTES + page_bytes(header));
}

enum { READ, READ_SHORT, READ_FAILED };

static int log_read(const struct culex_sqlite *store, sqlite3_file *log, int64_t at, size_t len,
                    unsigned char *ret_bytes)
{
    if (store->place.log_fd >= 0) {
        ssize_t done = pread(store->place.log_fd, ret_bytes, len, at);
        return done == (ssize_t)len ? READ : done < 0 ? READ_FAILED : READ_SHORT;
    }
    int rc = log->pMethods->xRead(log, ret_bytes, (int)len, at);
    return rc == SQLITE_OK ? READ : rc == SQLITE_IOERR_SHORT_READ ? READ_SHORT : READ_FAILED;
}

/* What cannot be read is not taken for damage. */
static bool has_salt(const struct culex_sqlite *store, sqlite3_file *log, int64_t at,
                     const struct header *header)
{
    unsigned char salt[sizeof header->salt];
    int outcome = log_read(store, log, at, sizeof salt, salt);
    return outcome == READ ? memcmp(salt, header->salt, sizeof salt) == 0 : outcome == READ_FAILED;
}

static bool is_same_log(const struct culex_sqlite_frame *frame, const struct header *header)
{
    return frame->number > 0 && frame->number <= header->frames &&
           memcmp(frame->salt, header->salt, sizeof frame->salt) == 0;
}

/* A log that was cut and written on is as long as it should be, but for a hole, in which the frame
 * lies that was the last one before. */
static bool log_is_whole(const struct culex_sqlite *store, sqlite3_file *log, int64_t bytes,
                         const struct header *header, const struct culex_sqlite_frame *last)
{
    int64_t at =
        is_same_log(last, header) ? frame_at(header, last->number) + FRAME_SALT_AT : LOG_SALT_AT;
    return bytes >= frame_at(header, header->frames + 1) && has_salt(store, log, at, header);
}

/* Where it cannot be told, it is long enough. */
static int64_t log_length(sqlite3_file *log)
{
    sqlite3_int64 bytes = 0;
    return log->pMethods->xFileSize(log, &bytes) == SQLITE_OK ? bytes : INT64_MAX;
}

static void frame_note(struct culex_sqlite_frame *last, const struct header *header)
{
    last->number = header->frames;
    memcpy(last->salt, header->salt, sizeof last->salt);
}

/* A length that was taken before the index was read shows that all is well, not that it is not. */
bool culex__sqlite_index_log_is_cut(const struct culex_sqlite *store, int64_t bytes,
                                    struct culex_sqlite_frame *last)
{
    struct index before, after;
    sqlite3_file *log = log_of(store);
    bool is_early = bytes >= 0;
    for (int tries = 0; log != NULL && tries < TRIES; tries++, is_early = false) {
        if (!index_read(store, &before) || !is_sane(&before))
            continue;
        bytes = is_early ? bytes : log_length(log);
        if (before.header.frames == 0 || log_is_whole(store, log, bytes, &before.header, last)) {
            frame_note(last, &before.header);
            return false;
        }
        if (!is_early && index_read(store, &after) && memcmp(&before, &after, sizeof before) == 0)
            return true;
    }
    return false;
}
