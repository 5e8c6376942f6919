// A connection to Valkey or Redis, for which no request of a client waits long.
import { type RedisOptions, Valkey } from "iovalkey";

const callTimeoutMs = 50;
const connectTimeoutMs = 1_000;
/** Without a response for this time the connection is replaced: after a lost network the kernel would close it only after many minutes. A pause of the process of this length replaces it too. */
const silenceMsMax = 2_000;
const reconnectDelayStepMs = 50;
const reconnectDelayMaxMs = 1_000;
const tlsUrl = /^(?:rediss|valkeys):/;

/**
 * Connects in the background, and again after each close. The caller handles its `error` events.
 * @param url `redis:`, `rediss:` (TLS), `valkey:` or `valkeys:` (TLS), with an optional user and database number
 */
export function connectValkey(url: string, password: string | undefined): Valkey {
  const storeUrl = new URL(url);
  // In iovalkey, a password of the options does not replace the empty one of a URL with a user.
  if (password !== undefined) storeUrl.password = encodeURIComponent(password);
  const options: RedisOptions = {
    connectionName: "tributary",
    // Calls of one iteration of the event loop are sent together.
    enableAutoPipelining: true,
    // A call that was in flight at a close is not repeated: it may have taken the units of a lease.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    socketTimeout: silenceMsMax,
    // After a failover, an open connection leads to the former primary.
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
    retryStrategy: (attempt) => Math.min(attempt * reconnectDelayStepMs, reconnectDelayMaxMs),
  };
  if (tlsUrl.test(url)) options.tls = {};
  return new Valkey(storeUrl.href, options);
}

/** @throws Error after 50 ms. */
export function withTimeout<T>(result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`The store did not respond within ${callTimeoutMs} ms`));
    // After a long turn of the event loop the timer is due before the response is read: `setImmediate` lets the response be read first.
    const timer = setTimeout(() => setImmediate(fail), callTimeoutMs);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
