/* ops/command/screen.h - the terminal as a whole, by ncurses. */
#ifndef OPS_COMMAND_SCREEN_H
#define OPS_COMMAND_SCREEN_H

#include "command/frame.h"

enum ops_key {
    OPS_KEY_NONE, /* none came within a tenth of a second */
    OPS_KEY_RESIZE,
    OPS_KEY_UP,
    OPS_KEY_DOWN,
    OPS_KEY_PAGE_UP,
    OPS_KEY_PAGE_DOWN,
    OPS_KEY_HOME,
    OPS_KEY_LETTER /* and more: that letter */
};

/* CULEX_EUNSUPPORTED in a build without ncurses, and for a terminal of an unknown kind. */
culex_status ops_screen_begin(culex_error *error);
void ops_screen_size(size_t *ret_width, size_t *ret_height);
void ops_screen_show(const struct ops_frame *frame);
/* *ret_letter is that of OPS_KEY_LETTER. */
enum ops_key ops_screen_key(int *ret_letter);
/* Gives the terminal back as it was. */
void ops_screen_end(void);

#endif
