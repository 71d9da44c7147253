/* fuzz_project - any bytes as a culex.yaml: a report, or a project whose paths can be used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag_print.h"
#include "fuzz.h"
#include "limits.h"
#include "project.h"

unsigned fuzz_taken;

static void check_texts(const struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (*texts->items[i] == '\0')
            abort();
    }
}

static void check_project(const struct project *project)
{
    check_texts(&project->folders);
    check_texts(&project->imports);
    check_texts(&project->exclude);
    if (project->folders.count == 0 || *project->lock == '\0')
        abort();
    fuzz_taken++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct arena arena = {0};
    struct diag_sink sink;
    struct project project;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    if (size > LIMIT_PROJECT_BYTES || nowhere == NULL)
        return 0;
    diag_sink_init(&sink, &arena);
    project_read_text(&sink, "/srv/culex.yaml", (const char *)data, size, &project);
    if (sink.errors == 0)
        check_project(&project);
    diag_sort(&sink);
    diag_print_human(&sink, nowhere, false);
    project_release(&project);
    arena_release(&arena);
    return 0;
}
