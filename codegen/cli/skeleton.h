/* skeleton.h - the files that `culexc init` writes, made from skeleton/ and examples/hello. */
#ifndef CULEXC_SKELETON_H
#define CULEXC_SKELETON_H

struct skeleton_file {
    const char *name;
    const char *text; /* may mention @NAME@ and @COMMANDS@ */
};

/* Ends with a zeroed one. */
extern const struct skeleton_file skeleton_files[];

#endif
