import type { RedisScript } from "../client/connection.ts";
import { clock as prelude } from "./prelude.ts";

// A thread with a run in flight outlives its time; the run renews it.
const ttl = `
local held = redis.call('HGET', KEYS[2], 'until')
local ttl = tonumber(ARGV[1])
if held and tonumber(held) > now then ttl = ttl + tonumber(ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ttl)
`;

/**
 * KEYS: session, lease. ARGV: ttlMs, leaseMs, version it must have ('0': none), new version, JSON, token,
 * last activity, run and fence of the lease it is written with ('': none), JSON for lists, agent, expected. Answers 'ok',
 * 'conflict' or 'lost'.
 */
export const writeScript: RedisScript = {
  name: "write",
  lua: `${prelude}
local current = redis.call('HMGET', KEYS[1], 'v', 'w')
-- Sent again: the first one has landed.
if current[2] == ARGV[6] then return 'ok' end
if ARGV[9] ~= '' then
  local held = redis.call('HMGET', KEYS[2], 'run', 'fence', 'until', 'ms')
  if held[1] ~= ARGV[8] or held[2] ~= ARGV[9] or left(held[3], held[4], ARGV[12]) == 0 then return 'lost' end
end
if (current[1] or '0') ~= ARGV[3] then return 'conflict' end
redis.call('HSET', KEYS[1], 'v', ARGV[4], 'd', ARGV[5], 'w', ARGV[6], 'a', ARGV[7],
  'h', ARGV[10], 'g', ARGV[11])
${ttl}
return 'ok'
`,
};

/** KEYS: session, lease. ARGV: ttlMs, leaseMs, last activity. Answers the agent, or nil when there is no session. */
export const touchScript: RedisScript = {
  name: "touch",
  lua: `${prelude}
local before, agent = unpack(redis.call('HMGET', KEYS[1], 'a', 'g'))
if not before then return false end
if tonumber(before) < tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], 'a', ARGV[3]) end
${ttl}
return agent or ''
`,
};

/** KEYS: sessions. ARGV: member, ttlMs, how many fit ('' when it is one of them already). */
export const admitScript: RedisScript = {
  name: "admit",
  lua: `${prelude}
local ttl, fits = tonumber(ARGV[2]), tonumber(ARGV[3])
if fits then
  -- Entries that expired a while ago were not cleaned up.
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ttl)
  if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
    if redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', now), '+inf') >= fits then return 0 end
    redis.call('ZADD', KEYS[1], now + ttl, ARGV[1])
  end
end
redis.call('ZADD', KEYS[1], 'XX', 'GT', now + ttl, ARGV[1])
if redis.call('PTTL', KEYS[1]) < ttl * 2 then redis.call('PEXPIRE', KEYS[1], ttl * 3) end
return 1
`,
};

/** KEYS: sessions. How many have not expired. */
export const countScript: RedisScript = {
  name: "count",
  lua: `${prelude}
return redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', now), '+inf')
`,
};

/** KEYS: sessions. ARGV: limit. Returns expired sessions, each to only one caller. */
export const expiredScript: RedisScript = {
  name: "expired",
  lua: `${prelude}
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, member in ipairs(gone) do redis.call('ZREM', KEYS[1], member) end
return gone
`,
};

/** KEYS: bucket. ARGV: cost, tokens, perMs. Answers 0 or the milliseconds to wait. */
export const takeScript: RedisScript = {
  name: "take",
  lua: `${prelude}
local cost, tokens, per_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local before = tonumber(bucket[1] or tokens)
local at = tonumber(bucket[2] or now)
local available = math.min(tokens, before + math.max(0, now - at) * tokens / per_ms)
local wait = 0
if available >= cost then available = available - cost
else wait = math.ceil((cost - available) * per_ms / tokens) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.9f', available), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((1 - available / tokens) * per_ms)))
return wait
`,
};
