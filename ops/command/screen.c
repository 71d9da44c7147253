#include "command/screen.h"

#ifdef OPS_HAS_NCURSES

#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>

static SCREEN *screen;

culex_status ops_screen_begin(culex_error *error)
{
    enum { KEY_WAIT_MS = 100, ESCAPE_WAIT_MS = 25 };
    setlocale(LC_CTYPE, ""); /* numbers stay as they are */
    unsetenv("COLUMNS");     /* of a shell: they stay as they were when the terminal is resized */
    unsetenv("LINES");
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL)
        return ops_fail(error, CULEX_EUNSUPPORTED,
                        "$TERM names no terminal that is known here; --once prints a frame");
    set_term(screen);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_WAIT_MS);
    timeout(KEY_WAIT_MS);
    curs_set(0);
    return CULEX_OK;
}

void ops_screen_size(size_t *ret_width, size_t *ret_height)
{
    *ret_width = COLS > 0 ? (size_t)COLS : 1;
    *ret_height = LINES > 0 ? (size_t)LINES : 1;
}

void ops_screen_show(const struct ops_frame *frame)
{
    erase();
    for (size_t i = 0; i < frame->count; i++) {
        if (frame->of[i].is_head)
            attron(A_BOLD);
        mvaddstr((int)i, 0, frame->of[i].text);
        attroff(A_BOLD);
    }
    refresh();
}

enum ops_key ops_screen_key(int *ret_letter)
{
    static const struct {
        int code;
        enum ops_key key;
    } keys[] = {{ERR, OPS_KEY_NONE},          {KEY_RESIZE, OPS_KEY_RESIZE},
                {KEY_UP, OPS_KEY_UP},         {KEY_DOWN, OPS_KEY_DOWN},
                {KEY_PPAGE, OPS_KEY_PAGE_UP}, {KEY_NPAGE, OPS_KEY_PAGE_DOWN},
                {KEY_HOME, OPS_KEY_HOME}};
    int code = getch();
    *ret_letter = code;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].code == code)
            return keys[i].key;
    }
    return OPS_KEY_LETTER;
}

void ops_screen_end(void)
{
    endwin();
    delscreen(screen);
    screen = NULL;
}

#else

culex_status ops_screen_begin(culex_error *error)
{
    return ops_fail(error, CULEX_EUNSUPPORTED,
                    "this culex was built without ncurses; --once prints a frame");
}

void ops_screen_size(size_t *ret_width, size_t *ret_height)
{
    *ret_width = 80;
    *ret_height = 24;
}

void ops_screen_show(const struct ops_frame *frame)
{
    (void)frame;
}

enum ops_key ops_screen_key(int *ret_letter)
{
    *ret_letter = 'q';
    return OPS_KEY_LETTER;
}

void ops_screen_end(void)
{
}

#endif
