/* renderer.h - the renderer's own files, which its output depends on. */
#ifndef CULEXC_RENDERER_H
#define CULEXC_RENDERER_H

#include <stdint.h>

#include "depfile.h"

struct renderer {
    struct path_list *files; /* programs and templates, sorted; Jinja2 is none of them */
    uint64_t digest;         /* of all of them: the same for everybody who has this version */
};

/* False after a message. */
bool renderer_read(struct arena *arena, const char *folder, struct renderer *ret_renderer);

#endif
