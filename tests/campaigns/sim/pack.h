/* sim/pack.h - `struct` of Redis' Lua, as far as scripts need it: pack and unpack of unsigned
 * numbers of 1 to 8 bytes, the most significant byte first ('>I2I4...'). */
#ifndef CULEX_SIM_PACK_H
#define CULEX_SIM_PACK_H

#include <lua.h>

/* Sets the global `struct`. */
void sim_pack_open(lua_State *lua);

#endif
