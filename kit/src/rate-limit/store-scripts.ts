/** The Lua scripts of the lease store. Each has one key, so they also work in a cluster. The time is the store's. */
import { createHash } from "node:crypto";

export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/**
 * Takes units from a bucket, which can owe up to one quota. A clock that was set back delays a caller by two windows at most.
 * - KEYS[1]: the bucket. Its value is the time at which it is full, in microseconds since 1970, as in local-limit.ts.
 * - ARGV: the window in milliseconds; the quota; the credit (units that the process has admitted without a lease: they are always taken);
 *   the units to take if available.
 * - Returns the units granted, and the milliseconds until the bucket is full.
 *
 * `%.0f`: Lua writes only 14 digits otherwise.
 */
export const leaseScript = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = ARGV[1] * 1000
local step = window / ARGV[2]
local full_at = math.max(tonumber(redis.call('GET', KEYS[1])) or now, now) + ARGV[3] * step
full_at = math.min(full_at, now + 2 * window)
local available = math.floor((now + window - full_at) / step + 1e-6)
local granted = math.max(math.min(available, tonumber(ARGV[4])), 0)
full_at = full_at + granted * step
local reset_ms = math.ceil((full_at - now) / 1000)
if reset_ms > 0 then redis.call('SET', KEYS[1], string.format('%.0f', full_at), 'PX', reset_ms) end
return { granted, reset_ms }
`);

/**
 * Reports this process, and removes processes whose last report is too old (ARGV[2]) or, because the clock was set back, as far in the future.
 * - KEYS[1]: a sorted set of processes by the time of their last report, in milliseconds.
 * - ARGV: the id of this process; the milliseconds after which a process without a report is removed.
 */
export const presenceScript = createScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`);

function createScript(text: string): Script {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}
