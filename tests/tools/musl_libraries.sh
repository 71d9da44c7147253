#!/bin/sh
# Builds the libraries that Culex and its tests need for musl, from the original sources as Debian
# keeps them: musl_libraries.sh PREFIX. Needs root in a Debian with musl-tools; does nothing where
# PREFIX is whole already.
set -eu
prefix=$1
[ ! -e "$prefix/whole" ] || exit 0
rm -rf "$prefix"
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"

# The kernel's headers belong to no C library, but lie in a folder of glibc's.
for folder in linux asm-generic; do
    ln -s "/usr/include/$folder" "$prefix/include/$folder"
done
ln -s "/usr/include/$(gcc -print-multiarch)/asm" "$prefix/include/asm"

sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/sources-of-musl.list
export DEBIAN_FRONTEND=noninteractive
apt-get -q update >&2
apt-get -q install -y --no-install-recommends cmake make tcl xz-utils bzip2 ca-certificates >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
cd "$scratch"
export CC=musl-gcc CFLAGS="-O2 -fPIC -isystem $prefix/include"

# unpack PACKAGE: its source into a folder of that name, the version into $version.
unpack() {
    apt-get --print-uris source "$1" >uris
    line=$(grep -E "^'[^']*\.orig\.tar\.[a-z0-9]+'" uris | head -n 1)
    uri=$(echo "$line" | cut -d"'" -f2)
    /usr/lib/apt/apt-helper download-file "$uri" "$1.tar" "$(echo "$line" | cut -d' ' -f4)" >&2
    mkdir "$1"
    tar -xf "$1.tar" -C "$1" --strip-components=1
    version=$(basename "$uri" | sed 's/^[^_]*_//; s/\.orig\.tar.*//; s/[+].*//')
}

# describe NAME FLAGS [FOLDER]: the file that pkg-config reads; headers are in FOLDER of include.
describe() {
    printf 'Name: %s\nDescription: for musl\nVersion: %s\nCflags: -I%s\nLibs: -L%s/lib %s\n' \
        "$1" "$version" "$prefix/include${3:+ -I$prefix/include/$3}" "$prefix" "$2" >"$prefix/lib/pkgconfig/$1.pc"
}

unpack sqlite3
(cd sqlite3 && CC_FOR_BUILD=gcc ./configure --disable-shared --disable-readline --disable-tcl && make -j2 sqlite3.c sqlite3.h BCC=gcc &&
    musl-gcc $CFLAGS -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA -c sqlite3.c && ar rcs "$prefix/lib/libsqlite3.a" sqlite3.o &&
    cp sqlite3.h "$prefix/include/") >&2
describe sqlite3 '-lsqlite3 -lm'

unpack hiredis
(cd hiredis && make -j2 static && mkdir "$prefix/include/hiredis" && cp ./*.h "$prefix/include/hiredis/" &&
    cp libhiredis.a "$prefix/lib/") >&2
describe hiredis -lhiredis hiredis

unpack libinih
(cd libinih && musl-gcc $CFLAGS -c ini.c && ar rcs "$prefix/lib/libinih.a" ini.o && cp ini.h "$prefix/include/") >&2
describe inih -linih

unpack libyaml
(cd libyaml && cmake -S . -B made -DBUILD_TESTING=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 && make -C made -j2 yaml &&
    cp made/libyaml.a "$prefix/lib/" && cp include/yaml.h "$prefix/include/") >&2
describe yaml-0.1 -lyaml

unpack cmocka
(cd cmocka && cmake -S . -B made -DBUILD_SHARED_LIBS=OFF -DWITH_EXAMPLES=OFF -DCMAKE_POLICY_VERSION_MINIMUM=3.5 &&
    make -C made -j2 && cp "$(find made -name 'libcmocka*.a' | head -n 1)" "$prefix/lib/libcmocka.a" &&
    cp include/cmocka*.h "$prefix/include/") >&2
describe cmocka -lcmocka

unpack lua5.1
(cd lua5.1/src && make -j2 liblua.a CC=musl-gcc CFLAGS="$CFLAGS -DLUA_USE_POSIX" && cp liblua.a "$prefix/lib/" &&
    cp lua.h luaconf.h lualib.h lauxlib.h "$prefix/include/") >&2
describe lua5.1 '-llua -lm'
touch "$prefix/whole"
