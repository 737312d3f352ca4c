/** What the process of a run does to it; see prelude.ts for keys and fields. */
import type { RedisScript } from "../client/connection.ts";
import { prelude, trim } from "./prelude.ts";

/** ARGV: run, token, agent, version, leaseMs, keepMs, runLogMs, ttlMs, holder, event, expected. KEYS 8–11: the holder's. */
export const openScript: RedisScript = {
  name: "open",
  lua: `${prelude}
local run, token, holder = ARGV[1], ARGV[2], ARGV[9]
local lease_ms, keep_ms, ttl_ms = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local held = redis.call('HMGET', KEYS[1], 'run', 'fence', 'until', 'token', 'ms')
if held[4] == token then return { 'ok', held[2] } end
-- One whose log holds nothing but its end has never begun.
local old = redis.call('HMGET', KEYS[4], 'status', 'last')
local is_used = old[1] and tonumber(old[2]) > 1
if is_used and old[1] ~= 'running' then return { 'ended', run } end
if held[1] then
  if left(held[3], held[5], ARGV[11]) > 0 then return { 'busy', held[1] } end
  if held[1] ~= holder then return { 'expired', held[1] } end
  if redis.call('HGET', KEYS[8], 'fence') == held[2] then
    local key = { lease = KEYS[1], runs = KEYS[3], record = KEYS[8], log = KEYS[9], commands = KEYS[10], watch = KEYS[11] }
    lose(key, holder, held[2], tonumber(ARGV[7]), ARGV[10])
  end
end
if is_used then return { 'ended', run } end
-- Microseconds of the server: higher than any fence before, also after the keys were lost.
local fence = time[1] * 1000000 + time[2]
local before = redis.call('HGET', KEYS[4], 'fence')
if before and tonumber(before) >= fence then fence = tonumber(before) + 1 end
if held[2] and tonumber(held[2]) >= fence then fence = tonumber(held[2]) + 1 end
fence = text(fence)
redis.call('DEL', KEYS[4], KEYS[5], KEYS[7])
redis.call('HSET', KEYS[4], 'fence', fence, 'token', token, 'agent', ARGV[3], 'version', ARGV[4],
  'status', 'running', 'first', '1', 'last', '0', 'done', '', 'count', '0', 'bytes', '0')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'run', run, 'fence', fence, 'token', token, 'until', text(now + lease_ms), 'ms', ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', text(now))
redis.call('ZADD', KEYS[3], '+inf', run)
redis.call('PEXPIRE', KEYS[1], keep_ms)
redis.call('PEXPIRE', KEYS[4], keep_ms)
redis.call('PEXPIRE', KEYS[3], ttl_ms + keep_ms)
redis.call('PEXPIRE', KEYS[2], ttl_ms + lease_ms)
return { 'ok', fence }
`,
};

/** KEYS: lease, record, log. ARGV: run, fence, from, to, leaseMs, keepMs, events, bytes, id, (from, json, count)+. */
export const appendScript: RedisScript = {
  name: "append",
  lua: `${prelude}${trim}
local held = redis.call('HMGET', KEYS[1], 'run', 'fence', 'until')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 'lost' end
local record = redis.call('HMGET', KEYS[2], 'last', 'done', 'count', 'bytes')
if not record[1] then return 'lost' end
if record[2] == ARGV[9] then return 'ok' end
if tonumber(ARGV[3]) ~= tonumber(record[1]) + 1 then return record[1] end
local count, bytes = tonumber(record[3]), tonumber(record[4])
for at = 10, #ARGV, 3 do
  redis.call('XADD', KEYS[3], ARGV[at] .. '-0', 'e', ARGV[at + 1], 'n', ARGV[at + 2], 'f', ARGV[2])
  bytes = bytes + #ARGV[at + 1]
  count = count + tonumber(ARGV[at + 2])
end
local size = { count = count, bytes = bytes, max_count = tonumber(ARGV[7]), max_bytes = tonumber(ARGV[8]) }
trim(KEYS[2], KEYS[3], size, { last = ARGV[4], done = ARGV[9] })
local lease_ms = tonumber(ARGV[5])
local rest = tonumber(held[3]) - now
if record[1] == '0' or rest < lease_ms * 0.8 or rest > lease_ms then
  redis.call('HSET', KEYS[1], 'until', text(now + lease_ms))
  for at = 1, 3 do redis.call('PEXPIRE', KEYS[at], ARGV[6]) end
end
return 'ok'
`,
};

/** ARGV: run, fence, status, runLogMs, ttlMs, from (or '' for the next), at, event, events, bytes, id. */
export const closeScript: RedisScript = {
  name: "close",
  lua: `${prelude}${trim}
local held = redis.call('HMGET', KEYS[1], 'run', 'fence')
local record = redis.call('HMGET', KEYS[4], 'last', 'fence', 'done', 'count', 'bytes')
if record[3] == ARGV[11] then return 'ok' end
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] or record[2] ~= ARGV[2] then return 'lost' end
local last = tonumber(record[1])
if ARGV[6] ~= '' and tonumber(ARGV[6]) ~= last + 1 then return record[1] end
local to = terminal(KEYS[5], last, { at = ARGV[7], event = ARGV[8], fence = ARGV[2], status = ARGV[3] })
local size = { count = tonumber(record[4]) + 1, bytes = tonumber(record[5]) + #ARGV[8], max_count = tonumber(ARGV[9]), max_bytes = tonumber(ARGV[10]) }
trim(KEYS[4], KEYS[5], size, { status = ARGV[3], last = to, done = ARGV[11] })
redis.call('DEL', KEYS[1], KEYS[6], KEYS[7])
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[4]), ARGV[1])
redis.call('PEXPIRE', KEYS[4], ARGV[4])
redis.call('PEXPIRE', KEYS[5], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 'ok'
`,
};

/** ARGV: run, fence, leaseMs, keepMs, ttlMs. Answers the time, or 'lost'. */
export const renewScript: RedisScript = {
  name: "renew",
  lua: `${prelude}
local held = redis.call('HMGET', KEYS[1], 'run', 'fence')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 'lost' end
redis.call('HSET', KEYS[1], 'until', text(now + tonumber(ARGV[3])))
for _, at in ipairs({ 1, 4, 5, 6 }) do redis.call('PEXPIRE', KEYS[at], ARGV[4]) end
redis.call('PEXPIRE', KEYS[3], tonumber(ARGV[5]) + tonumber(ARGV[4]))
redis.call('PEXPIRE', KEYS[2], tonumber(ARGV[5]) + tonumber(ARGV[3]))
return text(now)
`,
};

/** KEYS: pointer. ARGV: thread, the other thread it may be taken from (or ''), ttlMs. */
export const claimScript: RedisScript = {
  name: "claim",
  lua: `
local current = redis.call('GET', KEYS[1])
if current and current ~= ARGV[1] and current ~= ARGV[2] then return current end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return false
`,
};

/** ARGV: run, fence. Takes back a run that was opened and may not begin. */
export const undoScript: RedisScript = {
  name: "undo",
  lua: `
if redis.call('HGET', KEYS[1], 'fence') ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1], KEYS[4], KEYS[5], KEYS[6])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
`,
};
