/**
 * What must happen in one step, as scripts for the server. They share an order of keys
 * (`runScriptKeys`), read the server's clock, and can be sent twice.
 *
 * Fields of a run's record: fence, token, agent, version, status, first, last, done (the last write, to
 * know it when it is sent again), count and bytes of the log. Fields of a lease: run, fence, token, until,
 * ms (how long it lasts). Fields of an entry of the log: e (entries as JSON), n (how many), f (fence), s (status, at the end only).
 */
import type { RunKeys, ThreadKeys } from "../keys.ts";

/** The keys in the order in which the scripts of a run expect them. */
export function runScriptKeys(thread: ThreadKeys, run: RunKeys): string[] {
  return [thread.lease, thread.session, thread.runs, run.record, run.log, run.commands, run.watch];
}

/** The time, and what it means for a lease. */
export const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
-- How long a lease still holds, by the clock of the server or by the time that the caller expects it to show: its date
-- may have been set since the owner renewed the lease. One that ends further away than it can does not hold.
local function left(ends, lease_ms, expected)
  for _, at in ipairs({ now, tonumber(expected) }) do
    local rest = tonumber(ends) - at
    if rest > 0 and rest <= tonumber(lease_ms) * 2 then return math.min(rest, tonumber(lease_ms)) end
  end
  return 0
end
`;

/** What scripts of runs begin with: the time, and the end of a run. */
export const prelude: string = `${clock}
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

/** Writes the fields of a record together with what is left of its log. */
export const trim = `
local function recount(record, log, size, fields)
  local oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  local first = oldest and string.match(oldest[1], '^%d+')
  if first == redis.call('HGET', record, 'first') then return end
  -- Redis has evicted the log: what counts is what was written since.
  size.count, size.bytes, fields.first = 0, 0, first
  for _, row in ipairs(redis.call('XRANGE', log, '-', '+')) do
    size.count = size.count + tonumber(row[2][4])
    size.bytes = size.bytes + #row[2][2]
  end
end
local function trim(record, log, size, fields)
  if size.count > size.max_count or size.bytes > size.max_bytes then recount(record, log, size, fields) end
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
