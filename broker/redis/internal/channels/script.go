package channels

import (
	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/internal/replication"
)

// The scripts. Each is one step for Redis: all of it is in the append-only file, or nothing.

// allowOOM begins a script that a server without memory runs too: it is about messages that consumers have, and writes next to
// nothing. Without it messages would come again while they are handled. Redis lets take go on in any case, since the first thing
// that it writes needs no memory.
const allowOOM = "#!lua flags=allow-oom"

// publishOnce keeps a message unless its ID was used in the last two minutes. It then writes what changes nothing, since its answer
// means that the message is kept: replicas have to confirm that too.
// KEYS: log, id. ARGV: milliseconds to remember, the number of limits, limits of XADD..., fields and their values...
var publishOnce = replication.NewScript(`
local known = redis.call('GET', KEYS[2])
if known then
  redis.call('SET', KEYS[2], known, 'KEEPTTL')
  return {known, 1}
end
local add = {'XADD', KEYS[1]}
for i = 3, #ARGV do
  if i == 3 + ARGV[2] then add[#add+1] = '*' end
  add[#add+1] = ARGV[i]
end
local id = redis.call(unpack(add))
redis.call('SET', KEYS[2], id, 'PX', ARGV[1])
return {id, 0}`)

// take hands out messages that are due again, then new ones, each with its id, how many attempts of it have failed, how often
// it was handed out by now, and its fields. When there are none it returns how many milliseconds there are until one is due (-1
// for none) and the last id that the group was given.
// KEYS: log, due, failed. ARGV: group, limit, milliseconds until due again.
var take = replication.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[2])
local out = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)) do
  local got = redis.call('XCLAIM', KEYS[1], ARGV[1], 'sabir', 0, id)
  if got[1] then
    local pending = redis.call('XPENDING', KEYS[1], ARGV[1], id, id, 1)
    redis.call('ZADD', KEYS[2], now + ARGV[3], id)
    out[#out+1] = {id, tonumber(redis.call('HGET', KEYS[3], id) or 0), pending[1][4], got[1][2]}
  else
    redis.call('XACK', KEYS[1], ARGV[1], id)
    redis.call('ZREM', KEYS[2], id)
    redis.call('HDEL', KEYS[3], id)
  end
end
if #out < limit then
  local new = redis.call('XREADGROUP', 'GROUP', ARGV[1], 'sabir', 'COUNT', limit - #out, 'STREAMS', KEYS[1], '>')
  if new then
    for _, entry in ipairs(new[1][2]) do
      redis.call('ZADD', KEYS[2], now + ARGV[3], entry[1])
      out[#out+1] = {entry[1], 0, 1, entry[2]}
    end
  end
end
if #out > 0 then return {out, 0, ''} end
local wait = -1
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if first[2] then wait = math.max(0, tonumber(first[2]) - now) end
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local about = {}
  for i = 1, #group, 2 do about[group[i]] = group[i+1] end
  if about['name'] == ARGV[1] then return {out, wait, about['last-delivered-id']} end
end
return {out, wait, '0-0'}`)

// again sets when messages that are out are due. Replicas need not confirm it: what is lost of it comes again too early.
// KEYS: due. ARGV: milliseconds from now, ids...
var again = rueidis.NewLuaScript(allowOOM + `
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', due, ARGV[i]) end
return #ARGV - 1`)

// giveBack has messages that were handed out by take come again at once, as if they had not been: the delivery is not counted.
// KEYS: log, due. ARGV: group, then for each message its id and how often it was handed out before.
var giveBack = rueidis.NewLuaScript(allowOOM + `
for i = 2, #ARGV, 2 do
  if redis.call('ZADD', KEYS[2], 'XX', 'CH', 0, ARGV[i]) == 1 then
    redis.call('XCLAIM', KEYS[1], ARGV[1], 'sabir', 0, ARGV[i], 'RETRYCOUNT', ARGV[i+1], 'JUSTID')
  end
end
return #ARGV`)

// fail counts attempts of a message that is out and sets when it is due again. One that is done with by now, through another
// consumer, is left alone. KEYS: due, failed. ARGV: milliseconds from now, id, attempts.
var fail = rueidis.NewLuaScript(allowOOM + `
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
if redis.call('ZSCORE', KEYS[1], ARGV[2]) then
  redis.call('ZADD', KEYS[1], due, ARGV[2])
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
end
return 1`)
