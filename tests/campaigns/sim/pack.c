#include "pack.h"

#include <lauxlib.h>

#include "base/bigendian.h"

enum { PACKED_MAX = 256 };

/* The width of the next number, 0 behind the last one. */
static int width_next(lua_State *lua, const char **at)
{
    const char *format = *at;
    if (format[0] == '\0')
        return 0;
    if (format[0] != 'I' || format[1] < '1' || format[1] > '8')
        return luaL_error(lua, "the virtual Redis knows no such format");
    *at += 2;
    return format[1] - '0';
}

static const char *format_begin(lua_State *lua)
{
    const char *format = luaL_checkstring(lua, 1);
    if (format[0] != '>')
        luaL_error(lua, "the virtual Redis packs the most significant byte first");
    return format + 1;
}

static int pack(lua_State *lua)
{
    uint8_t bytes[PACKED_MAX];
    int len = 0, width;
    const char *at = format_begin(lua);
    for (int i = 2; (width = width_next(lua, &at)) != 0; i++, len += width) {
        if (len + width > PACKED_MAX)
            return luaL_error(lua, "too many numbers");
        culex__bigendian_put(bytes + len, width, (uint64_t)(int64_t)luaL_checknumber(lua, i));
    }
    lua_pushlstring(lua, (const char *)bytes, (size_t)len);
    return 1;
}

/* From the place in its third argument on, counted from 1. Behind the numbers, where the next one
 * would be. */
static int unpack(lua_State *lua)
{
    size_t size;
    const char *bytes = luaL_checklstring(lua, 2, &size);
    size_t place = (size_t)luaL_optinteger(lua, 3, 1) - 1;
    const char *at = format_begin(lua);
    int count = 0, width;
    for (; (width = width_next(lua, &at)) != 0; count++, place += (size_t)width) {
        luaL_argcheck(lua, place + (size_t)width <= size, 2, "data string too short");
        uint64_t value = culex__bigendian_get((const uint8_t *)bytes + place, width);
        lua_pushnumber(lua, (lua_Number)value);
    }
    lua_pushinteger(lua, (lua_Integer)place + 1);
    return count + 1;
}

void sim_pack_open(lua_State *lua)
{
    lua_newtable(lua);
    lua_pushcfunction(lua, pack);
    lua_setfield(lua, -2, "pack");
    lua_pushcfunction(lua, unpack);
    lua_setfield(lua, -2, "unpack");
    lua_setglobal(lua, "struct");
}
