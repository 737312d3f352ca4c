/**
 * What must happen in one step, as scripts for the server. They share an order of keys
 * (`runScriptKeys`), read the server's clock, and can be sent twice.
 *
 * Fields of a run's record: fence, token, agent, version, status, first, last, done (the last write, to
 * know it when it is sent again), count and bytes of the log. Fields of a lease: run, fence, token, until. Fields of an
 * entry of the log: e (entries as JSON), n (how many), f (fence), s (status, at the end only).
 */
import type { RedisScript } from "../client/connection.ts";
import type { RunKeys, ThreadKeys } from "../keys.ts";

/** The keys in the order in which the scripts of a run expect them. */
export function runScriptKeys(thread: ThreadKeys, run: RunKeys): string[] {
  return [thread.lease, thread.session, thread.runs, run.record, run.log, run.commands, run.watch];
}

const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local function terminal(log, last, entry)
  local to = text(last + 1)
  local json = '[{"from":' .. to .. ',"to":' .. to .. ',"at":' .. entry.at .. ',"event":' .. entry.event .. '}]'
  redis.call('XADD', log, to .. '-0', 'e', json, 'n', '1', 'f', entry.fence, 's', entry.status)
  return to
end
-- Ends a run whose owner is gone, and notifies the owner in case it is not.
local function lose(key, run, fence, keep, event)
  local last = tonumber(redis.call('HGET', key.record, 'last'))
  local to = terminal(key.log, last, { at = text(now), event = event, fence = fence, status = 'lost' })
  redis.call('HSET', key.record, 'status', 'lost', 'last', to)
  redis.call('XADD', key.commands, '*', 'f', fence, 'c', 'lost')
  redis.call('DEL', key.watch)
  if redis.call('HGET', key.lease, 'fence') == fence then redis.call('DEL', key.lease) end
  redis.call('ZADD', key.runs, now + keep, run)
  for _, name in ipairs({ key.record, key.log, key.commands }) do
    redis.call('PEXPIRE', name, keep)
  end
end
`;

// Writes the fields of a record together with what is left of its log.
const trim = `
local function trim(record, log, size, fields)
  while size.count > size.max_count or size.bytes > size.max_bytes do
    local rows = redis.call('XRANGE', log, '-', '+', 'COUNT', 2)
    if #rows < 2 then break end
    redis.call('XDEL', log, rows[1][1])
    size.bytes = size.bytes - #rows[1][2][2]
    size.count = size.count - tonumber(rows[1][2][4])
    fields.first = string.match(rows[2][1], '^%d+')
  end
  fields.count = text(size.count)
  fields.bytes = text(size.bytes)
  local flat = {}
  for name, value in pairs(fields) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  redis.call('HSET', record, unpack(flat))
end
`;

/** ARGV: run, token, agent, version, leaseMs, keepMs, runLogMs, ttlMs, holder, event. KEYS 8–11: the holder's. */
export const openScript: RedisScript = {
  name: "open",
  lua: `${prelude}
local run, token, holder = ARGV[1], ARGV[2], ARGV[9]
local lease_ms, keep_ms, ttl_ms = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local held = redis.call('HMGET', KEYS[1], 'run', 'fence', 'until', 'token')
if held[4] == token then return { 'ok', held[2] } end
-- One whose log holds nothing but its end has never begun.
local old = redis.call('HMGET', KEYS[4], 'status', 'last')
local is_used = old[1] and tonumber(old[2]) > 1
if is_used and old[1] ~= 'running' then return { 'ended', run } end
if held[1] then
  if tonumber(held[3]) > now then return { 'busy', held[1] } end
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
redis.call('HSET', KEYS[1], 'run', run, 'fence', fence, 'token', token, 'until', text(now + lease_ms))
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
if record[1] == '0' or tonumber(held[3]) - now < lease_ms * 0.8 then
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

/** ARGV: run, fence, leaseMs, keepMs, ttlMs. */
export const renewScript: RedisScript = {
  name: "renew",
  lua: `${prelude}
local held = redis.call('HMGET', KEYS[1], 'run', 'fence')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 'lost' end
redis.call('HSET', KEYS[1], 'until', text(now + tonumber(ARGV[3])))
for _, at in ipairs({ 1, 4, 5, 6 }) do redis.call('PEXPIRE', KEYS[at], ARGV[4]) end
redis.call('PEXPIRE', KEYS[3], tonumber(ARGV[5]) + tonumber(ARGV[4]))
redis.call('PEXPIRE', KEYS[2], tonumber(ARGV[5]) + tonumber(ARGV[3]))
return 'ok'
`,
};

/** KEYS: lease, record. Answers the record and how long its lease still holds. */
export const peekScript: RedisScript = {
  name: "peek",
  lua: `${prelude}
local record = redis.call('HMGET', KEYS[2], 'fence', 'status', 'first', 'last', 'agent', 'version')
if not record[1] then return {} end
local held = redis.call('HMGET', KEYS[1], 'fence', 'until')
record[7] = held[1] == record[1] and text(tonumber(held[2]) - now) or '0'
return record
`,
};

/** ARGV: run, fence, runLogMs, event. Ends the run unless its lease holds; answers how long it does. */
export const loseScript: RedisScript = {
  name: "lose",
  lua: `${prelude}
local record = redis.call('HMGET', KEYS[4], 'fence', 'status')
if record[1] ~= ARGV[2] or record[2] ~= 'running' then return 0 end
local held = redis.call('HMGET', KEYS[1], 'fence', 'until')
if held[1] == ARGV[2] and tonumber(held[2]) > now then return tonumber(held[2]) - now end
local key = { lease = KEYS[1], runs = KEYS[3], record = KEYS[4], log = KEYS[5], commands = KEYS[6], watch = KEYS[7] }
lose(key, ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4])
return 0
`,
};

/** KEYS: record, log. ARGV: after, packs at most. Answers fence, status, first, last and the packs. */
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
local packs = {}
for at, row in ipairs(redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', ARGV[2])) do
  packs[at] = row[2][2]
end
record[5] = packs
return record
`,
};

/** KEYS: lease, commands. ARGV: run, command, id, keepMs. */
export const sendScript: RedisScript = {
  name: "send",
  lua: `${prelude}
local held = redis.call('HMGET', KEYS[1], 'run', 'fence', 'until')
if held[1] ~= ARGV[1] then return 'none' end
if tonumber(held[3]) <= now then return held[2] end
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

/** ARGV: event, runs. KEYS: lease, session, runs, then four per run. Answers 'more' when a run is missing. */
export const deleteScript: RedisScript = {
  name: "delete",
  lua: `${prelude}
if redis.call('EXISTS', KEYS[2]) == 0 then return 'none' end
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
return 'ok'
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
