/* Stands for a second SQLite that some other part of a program has brought along. */
int sqlite3_libversion_number(void);

int sqlite3_libversion_number(void)
{
    return 3000000;
}
