import type { RedisScript } from "../client/connection.ts";

const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * KEYS: blob. ARGV: token of the writer, ttlMs, field ('': none yet), value. 0: another writer owns it.
 */
export const writeBlobScript: RedisScript = {
  name: "write-blob",
  lua: `
local token = redis.call('HGET', KEYS[1], 'token')
if token and token ~= ARGV[1] then return 0 end
if not token and ARGV[3] ~= '' then return 0 end
if not token then redis.call('HSET', KEYS[1], 'token', ARGV[1]) end
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], ARGV[3], ARGV[4]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`,
};

/** KEYS: blob. ARGV: token, ttlMs, head. 0: it is gone. */
export const finishBlobScript: RedisScript = {
  name: "finish-blob",
  lua: `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'head', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`,
};

/** KEYS: blob. ARGV: token. Removes it, if it is still the writer's own. */
export const dropBlobScript: RedisScript = {
  name: "drop-blob",
  lua: `
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('UNLINK', KEYS[1])
`,
};

/**
 * KEYS: blobs. ARGV: ttlMs, minute, bytes; one of the first two is ''. Sums by the minute in which blobs
 * expire: as many as there are minutes, however many blobs. Answers the minute.
 */
export const countBlobScript: RedisScript = {
  name: "count-blob",
  lua: `${prelude}
local minute = ARGV[2]
if minute == '' then minute = string.format('%.0f', math.ceil((now + tonumber(ARGV[1])) / 60000)) end
if tonumber(minute) * 60000 > now then
  redis.call('HINCRBY', KEYS[1], minute, ARGV[3])
  local left = tonumber(minute) * 60000 - now
  if redis.call('PTTL', KEYS[1]) < left then redis.call('PEXPIRE', KEYS[1], math.ceil(left)) end
end
return minute
`,
};

/** KEYS: blobs. Answers the bytes of what has not expired. */
export const sizeBlobsScript: RedisScript = {
  name: "size-blobs",
  lua: `${prelude}
local counts = redis.call('HGETALL', KEYS[1])
local sum = 0
for i = 1, #counts, 2 do
  if tonumber(counts[i]) * 60000 > now then sum = sum + tonumber(counts[i + 1])
  else redis.call('HDEL', KEYS[1], counts[i]) end
end
return string.format('%.0f', sum)
`,
};
