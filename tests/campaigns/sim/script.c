/* sim/script.c - EVAL, EVALSHA and SCRIPT on the system's Lua 5.1, which is what Redis embeds. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "pack.h"
#include "redis.h"
#include "sha1.h"

struct compiled {
    char digest[41];
    uint64_t epoch; /* of the server that has it loaded */
    int function;   /* in the registry */
};

struct sim_scripts {
    lua_State *lua;
    struct compiled *list;
    size_t count;
    struct sim_redis *redis; /* the one that runs a script */
};

/* --- replies to Lua values ----------------------------------------------------------------- */

static const char *line_end(const char *at)
{
    while (*at != '\r')
        at++;
    return at;
}

/* Pushes the value at `at`; returns what follows it. The bytes are our own, so they are whole. */
static const char *value_push(lua_State *lua, const char *at)
{
    const char *end = line_end(at);
    long long number = strtoll(at + 1, NULL, 10);
    switch (*at) {
    case ':':
        lua_pushnumber(lua, (lua_Number)number);
        return end + 2;
    case '$':
        if (number < 0) {
            lua_pushboolean(lua, 0);
            return end + 2;
        }
        lua_pushlstring(lua, end + 2, (size_t)number);
        return end + 2 + number + 2;
    case '*':
        if (number < 0) {
            lua_pushboolean(lua, 0);
            return end + 2;
        }
        lua_createtable(lua, (int)number, 0);
        at = end + 2;
        for (long long i = 1; i <= number; i++) {
            at = value_push(lua, at);
            lua_rawseti(lua, -2, (int)i);
        }
        return at;
    default: /* '+' and '-' */
        lua_createtable(lua, 0, 1);
        lua_pushlstring(lua, at + 1, (size_t)(end - at - 1));
        lua_setfield(lua, -2, *at == '+' ? "ok" : "err");
        return end + 2;
    }
}

/* --- Lua values to replies ----------------------------------------------------------------- */

static void value_reply(lua_State *lua, struct sim_bytes *reply);

static void table_reply(lua_State *lua, struct sim_bytes *reply)
{
    lua_getfield(lua, -1, "err");
    if (lua_isstring(lua, -1)) {
        sim_reply_error(reply, lua_tostring(lua, -1));
        lua_pop(lua, 1);
        return;
    }
    lua_pop(lua, 1);
    lua_getfield(lua, -1, "ok");
    if (lua_isstring(lua, -1)) {
        sim_reply_status(reply, lua_tostring(lua, -1));
        lua_pop(lua, 1);
        return;
    }
    lua_pop(lua, 1);
    size_t count = 0;
    for (;; count++) {
        lua_rawgeti(lua, -1, (int)count + 1);
        bool is_end = lua_isnil(lua, -1);
        lua_pop(lua, 1);
        if (is_end)
            break;
    }
    sim_reply_array(reply, count);
    for (size_t i = 1; i <= count; i++) {
        lua_rawgeti(lua, -1, (int)i);
        value_reply(lua, reply);
        lua_pop(lua, 1);
    }
}

static void value_reply(lua_State *lua, struct sim_bytes *reply)
{
    size_t len;
    const char *text;
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
        text = lua_tolstring(lua, -1, &len);
        sim_reply_bulk(reply, text, len);
        break;
    case LUA_TNUMBER:
        sim_reply_int(reply, (int64_t)lua_tonumber(lua, -1));
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1))
            sim_reply_int(reply, 1);
        else
            sim_reply_nil(reply);
        break;
    case LUA_TTABLE:
        table_reply(lua, reply);
        break;
    default:
        sim_reply_nil(reply);
    }
}

/* --- redis.call and redis.pcall ------------------------------------------------------------ */

enum { CALL_ARGS_MAX = 8192 };

static int call_run(lua_State *lua, bool is_protected)
{
    static struct sim_arg args[CALL_ARGS_MAX];
    static char numbers[CALL_ARGS_MAX][32];
    static struct sim_bytes reply;
    struct sim_scripts *scripts = lua_touserdata(lua, lua_upvalueindex(1));
    int count = lua_gettop(lua);
    if (count == 0 || count > CALL_ARGS_MAX)
        return luaL_error(lua, "Please specify at least one argument for this redis.call() call");
    for (int i = 0; i < count; i++) {
        if (lua_type(lua, i + 1) == LUA_TNUMBER) {
            args[i].len =
                (size_t)snprintf(numbers[i], sizeof numbers[i], "%.17g", lua_tonumber(lua, i + 1));
            args[i].data = numbers[i];
        } else if (lua_type(lua, i + 1) == LUA_TSTRING) {
            args[i].data = lua_tolstring(lua, i + 1, &args[i].len);
        } else {
            return luaL_error(lua, "Lua redis lib command arguments must be strings or integers");
        }
    }
    reply.len = 0;
    sim_redis_run(scripts->redis, args, (size_t)count, &reply);
    value_push(lua, reply.data);
    if (reply.data[0] == '-' && !is_protected)
        return lua_error(lua);
    return 1;
}

static int redis_call(lua_State *lua)
{
    return call_run(lua, false);
}

static int redis_pcall(lua_State *lua)
{
    return call_run(lua, true);
}

/* --- life ---------------------------------------------------------------------------------- */

struct sim_scripts *sim_scripts_create(void)
{
    struct sim_scripts *scripts = calloc(1, sizeof *scripts);
    if (scripts == NULL || (scripts->lua = luaL_newstate()) == NULL)
        abort();
    lua_State *lua = scripts->lua;
    luaL_openlibs(lua);
    lua_newtable(lua);
    lua_pushlightuserdata(lua, scripts);
    lua_pushcclosure(lua, redis_call, 1);
    lua_setfield(lua, -2, "call");
    lua_pushlightuserdata(lua, scripts);
    lua_pushcclosure(lua, redis_pcall, 1);
    lua_setfield(lua, -2, "pcall");
    lua_setglobal(lua, "redis");
    sim_pack_open(lua);
    return scripts;
}

void sim_scripts_free(struct sim_scripts *scripts)
{
    lua_close(scripts->lua);
    free(scripts->list);
    free(scripts);
}

static struct compiled *compiled_find(const struct sim_scripts *scripts, const char *digest)
{
    for (size_t i = 0; i < scripts->count; i++) {
        if (memcmp(scripts->list[i].digest, digest, 40) == 0)
            return &scripts->list[i];
    }
    return NULL;
}

static struct compiled *compile(struct sim_scripts *scripts, const struct sim_arg *text,
                                struct sim_bytes *reply)
{
    char digest[41];
    sha1_hex(text->data, text->len, digest);
    struct compiled *found = compiled_find(scripts, digest);
    if (found != NULL)
        return found;
    if (luaL_loadbuffer(scripts->lua, text->data, text->len, "@user_script") != 0) {
        sim_reply_error(reply, "ERR Error compiling script");
        lua_pop(scripts->lua, 1);
        return NULL;
    }
    scripts->list = realloc(scripts->list, (scripts->count + 1) * sizeof *scripts->list);
    if (scripts->list == NULL)
        abort();
    found = &scripts->list[scripts->count++];
    memcpy(found->digest, digest, sizeof digest);
    found->epoch = 0;
    found->function = luaL_ref(scripts->lua, LUA_REGISTRYINDEX);
    return found;
}

/* --- EVAL ---------------------------------------------------------------------------------- */

static void table_set(lua_State *lua, const char *name, const struct sim_arg *args, size_t count)
{
    lua_createtable(lua, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushlstring(lua, args[i].data, args[i].len);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_setglobal(lua, name);
}

static void error_reply(lua_State *lua, struct sim_bytes *reply)
{
    char text[512];
    if (lua_istable(lua, -1)) { /* from redis.call */
        lua_getfield(lua, -1, "err");
        snprintf(text, sizeof text, "%s", lua_tostring(lua, -1));
        lua_pop(lua, 1);
    } else {
        snprintf(text, sizeof text, "ERR %s", lua_tostring(lua, -1));
    }
    text[strcspn(text, "\r\n")] = '\0';
    sim_reply_error(reply, text);
}

static void compiled_run(struct sim_redis *redis, const struct compiled *compiled,
                         const struct sim_arg *keys, size_t key_count, const struct sim_arg *args,
                         size_t arg_count, struct sim_bytes *reply)
{
    lua_State *lua = redis->scripts->lua;
    size_t before = reply->len;
    if (redis->on_call != NULL)
        redis->on_call(redis->user, compiled->digest, keys, key_count, args, arg_count);
    redis->scripts->redis = redis;
    redis->has_written = false;
    redis->in_script = true;
    table_set(lua, "KEYS", keys, key_count);
    table_set(lua, "ARGV", args, arg_count);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, compiled->function);
    if (lua_pcall(lua, 0, 1, 0) != 0)
        error_reply(lua, reply);
    else
        value_reply(lua, reply);
    lua_settop(lua, 0);
    redis->in_script = false;
    if (redis->on_return != NULL)
        redis->on_return(redis->user, reply->data + before, reply->len - before);
}

void sim_script_eval(struct sim_redis *redis, const struct sim_arg *args, size_t count,
                     struct sim_bytes *reply)
{
    int64_t key_count;
    struct compiled *compiled;
    if (count < 3 || !sim_arg_int(&args[2], &key_count) || key_count < 0 ||
        (size_t)key_count > count - 3) {
        sim_reply_error(reply, "ERR Number of keys can't be greater than number of args");
        return;
    }
    if (sim_arg_is(&args[0], "EVALSHA")) {
        compiled = args[1].len == 40 ? compiled_find(redis->scripts, args[1].data) : NULL;
        if (compiled == NULL || compiled->epoch != redis->script_epoch) {
            sim_reply_error(reply, "NOSCRIPT No matching script. Please use EVAL.");
            return;
        }
    } else {
        compiled = compile(redis->scripts, &args[1], reply);
        if (compiled == NULL)
            return;
        compiled->epoch = redis->script_epoch;
    }
    compiled_run(redis, compiled, args + 3, (size_t)key_count, args + 3 + key_count,
                 count - 3 - (size_t)key_count, reply);
}

void sim_script_command(struct sim_redis *redis, const struct sim_arg *args, size_t count,
                        struct sim_bytes *reply)
{
    if (count >= 2 && sim_arg_is(&args[1], "FLUSH")) {
        redis->script_epoch++;
        sim_reply_status(reply, "OK");
    } else if (count == 3 && sim_arg_is(&args[1], "LOAD")) {
        struct compiled *compiled = compile(redis->scripts, &args[2], reply);
        if (compiled == NULL)
            return;
        compiled->epoch = redis->script_epoch;
        sim_reply_bulk(reply, compiled->digest, 40);
    } else {
        sim_reply_error(reply, "ERR unknown subcommand");
    }
}
