/** What any process may do to a run; see prelude.ts for keys and fields. */
import type { RedisScript } from "../client/connection.ts";
import { prelude } from "./prelude.ts";

/** KEYS: lease, record. ARGV: expected. Answers the record, how long its lease still holds, and the time. */
export const peekScript: RedisScript = {
  name: "peek",
  lua: `${prelude}
local record = redis.call('HMGET', KEYS[2], 'fence', 'status', 'first', 'last', 'agent', 'version')
if not record[1] then return {} end
local held = redis.call('HMGET', KEYS[1], 'fence', 'until', 'ms')
record[7] = held[1] == record[1] and text(left(held[2], held[3], ARGV[1])) or '0'
record[8] = text(now)
return record
`,
};

/** ARGV: run, fence, runLogMs, event, expected. Ends the run unless its lease holds; answers how long it does. */
export const loseScript: RedisScript = {
  name: "lose",
  lua: `${prelude}
local record = redis.call('HMGET', KEYS[4], 'fence', 'status')
if record[1] ~= ARGV[2] or record[2] ~= 'running' then return 0 end
local held = redis.call('HMGET', KEYS[1], 'fence', 'until', 'ms')
local rest = held[1] == ARGV[2] and left(held[2], held[3], ARGV[5]) or 0
if rest > 0 then return rest end
local key = { lease = KEYS[1], runs = KEYS[3], record = KEYS[4], log = KEYS[5], commands = KEYS[6], watch = KEYS[7] }
lose(key, ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4])
return 0
`,
};

/**
 * KEYS: record, log. ARGV: after, entries. Answers fence, status, first, last and packs with that many entries, or
 * with 1 MB.
 */
export const readScript: RedisScript = {
  name: "read",
  lua: `
local record = redis.call('HMGET', KEYS[1], 'fence', 'status', 'first', 'last')
if not record[1] then return {} end
local after = tonumber(ARGV[1])
if after < tonumber(record[3]) - 1 or after >= tonumber(record[4]) then
  record[5] = {}
  return record
end
local next = string.format('%.0f', after + 1) .. '-0'
local start = redis.call('XREVRANGE', KEYS[2], next, '-', 'COUNT', 1)
local from = start[1] and start[1][1] or '-'
local packs, count, bytes = {}, 0, 0
while count < tonumber(ARGV[2]) and bytes < 1000000 do
  local rows = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', 16)
  for _, row in ipairs(rows) do
    if count >= tonumber(ARGV[2]) or bytes >= 1000000 then break end
    packs[#packs + 1] = row[2][2]
    count = count + tonumber(row[2][4])
    bytes = bytes + #row[2][2]
  end
  if #rows < 16 then break end
  from = '(' .. rows[16][1]
end
record[5] = packs
return record
`,
};

/** KEYS: lease, commands. ARGV: run, command, id, keepMs, expected. */
export const sendScript: RedisScript = {
  name: "send",
  lua: `${prelude}
local held = redis.call('HMGET', KEYS[1], 'run', 'fence', 'until', 'ms')
if held[1] ~= ARGV[1] then return 'none' end
if left(held[3], held[4], ARGV[5]) == 0 then return held[2] end
redis.call('XADD', KEYS[2], 'MAXLEN', '1000', '*', 'f', held[2], 'c', ARGV[2], 'i', ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 'ok'
`,
};

/** KEYS: watch. ARGV: duration and names of watchers. Without names it only counts. */
export const watchScript: RedisScript = {
  name: "watch",
  lua: `${prelude}
for at = 2, #ARGV do redis.call('ZADD', KEYS[1], text(now + tonumber(ARGV[1])), ARGV[at]) end
if #ARGV > 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
return redis.call('ZCARD', KEYS[1])
`,
};

/**
 * ARGV: event, runs. KEYS: lease, session, runs, then four per run. Answers 'more' when a run is missing, 'none' when
 * there was no session.
 */
export const deleteScript: RedisScript = {
  name: "delete",
  lua: `${prelude}
local answer = redis.call('EXISTS', KEYS[2]) == 1 and 'ok' or 'none'
local active, fence = unpack(redis.call('HMGET', KEYS[1], 'run', 'fence'))
local known = not active
for at = 2, #ARGV do known = known or ARGV[at] == active end
if not known then return 'more' end
for at = 2, #ARGV do
  local base = (at - 2) * 4 + 3
  local key = { lease = KEYS[1], runs = KEYS[3], record = KEYS[base + 1], log = KEYS[base + 2], commands = KEYS[base + 3], watch = KEYS[base + 4] }
  if ARGV[at] == active and redis.call('HGET', key.record, 'fence') == fence then
    -- Its followers still read its end.
    lose(key, active, fence, 10000, ARGV[1])
    redis.call('DEL', key.record)
  else
    redis.call('DEL', key.record, key.log, key.commands, key.watch)
  end
end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return answer
`,
};
