#!/bin/sh
# Runs a test against servers whose locale orders texts as nobody here expects: collation.sh COMMAND...
# A server takes LC_COLLATE from its environment, and Lua compares texts by that: in Czech letters stand
# before digits. No script may depend on it. Exit 77 where the source of that locale is not installed.
set -eu
[ -f /usr/share/i18n/locales/cs_CZ ] || {
    echo "collation: no source of the locale cs_CZ here (Debian has it in the package locales)"
    exit 77
}
LOCPATH=$(mktemp -d)
trap 'rm -rf "$LOCPATH"' EXIT
localedef -i cs_CZ -f UTF-8 "$LOCPATH/cs_CZ.UTF-8"
export LOCPATH LC_COLLATE=cs_CZ.UTF-8
[ "$(printf '1\na\n' | sort | head -n 1)" = a ] || {
    echo "collation: the locale has no effect"
    exit 1
}
"$@"
