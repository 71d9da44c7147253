#include "console/audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void audit_write(const struct request *request, const char *peer)
{
    char *line = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&line, &len);
    if (out == NULL)
        ops_alloc(NULL, SIZE_MAX);
    line_make(request, peer, out);
    fclose(out);
    if (write(request->console->audit, line, len) != (ssize_t)len)
        fprintf(stderr, "culex-console: a line of the audit is lost: %s\n", strerror(errno));
    free(line);
}
