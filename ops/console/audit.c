#include "console/audit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "console/routes.h"

static void line_make(const struct request *request, const char *peer, FILE *out)
{
    struct ops_json json = {.out = out};
    char at[OPS_TIME_SIZE];
    ops_json_object(&json, NULL);
    ops_json_text(&json, "time", ops_time_format(culex_time_now() / CULEX_MILLISECOND, at));
    ops_json_text(&json, "who", request->who != NULL ? request->who->name : "anybody");
    ops_json_text(&json, "from", peer);
    ops_json_text(&json, "what", request->route->name);
    ops_json_text(&json, "path", request->path);
    ops_json_count(&json, "status", request->status);
    if (request->audited[0] != '\0')
        ops_json_text(&json, request->audited_as != NULL ? request->audited_as : "run",
                      request->audited);
    ops_json_object_end(&json);
    ops_json_line_end(&json);
}

/* When even this finds no room, it is told of with the next ones. */
static void dropped_tell(struct outlet *audit, uint64_t dropped)
{
    char line[160], at[OPS_TIME_SIZE];
    uint64_t others;
    int len = snprintf(line, sizeof line,
                       "{\"time\":\"%s\",\"what\":\"linesLost\",\"lines\":%" PRIu64 "}\n",
                       ops_time_format(culex_time_now() / CULEX_MILLISECOND, at), dropped);
    outlet_write(audit, line, (size_t)len, &others);
}

void audit_write(const struct request *request, const char *peer)
{
    char *line = NULL;
    size_t len = 0;
    uint64_t dropped;
    FILE *out = open_memstream(&line, &len);
    if (out == NULL)
        ops_alloc(NULL, SIZE_MAX);
    line_make(request, peer, out);
    fclose(out);
    outlet_write(&request->console->audit, line, len, &dropped);
    free(line);
    if (dropped > 0)
        dropped_tell(&request->console->audit, dropped);
}
