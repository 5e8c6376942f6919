/** The buckets that processes share, in Valkey or Redis: one key per caller and class, and one key with the running processes. */
import { createHash, randomUUID } from "node:crypto";
import { type RedisOptions, Valkey } from "iovalkey";
import type { RequestClass } from "./rate-decision.ts";
import { type Script, leaseScript, presenceScript } from "./store-scripts.ts";

export interface LeaseStore {
  /** False while the store does not respond, and while too many calls are in flight: then each process counts its share of the limit. */
  isAvailable(): boolean;
  /** Gateways and REST proxies that share the limits, as far as this process knows. */
  processCount(): number;
  /** @throws Error (the promise rejects) if the store fails or takes longer than 50 ms; it may have taken the units nevertheless. */
  lease(request: LeaseRequest): Promise<LeaseGrant>;
  close(): Promise<void>;
}

export interface LeaseRequest {
  readonly key: string;
  readonly requestClass: RequestClass;
  readonly quota: number;
  readonly windowMs: number;
  /** Units that this process has admitted without a lease: taken even if the bucket is empty. */
  readonly credit: number;
  /** Units to take if the bucket has them. */
  readonly wanted: number;
}

export interface LeaseGrant {
  /** From 0 to `wanted`. */
  readonly granted: number;
  /** Until the shared bucket is full. Above the window: the caller owes units. */
  readonly resetMs: number;
}

export type LeaseStoreObservation =
  | { readonly kind: "store-called"; readonly result: "ok" | "failed" }
  /** Once per outage. */
  | { readonly kind: "store-unavailable"; readonly cause: unknown }
  /** At the start, and after each outage. */
  | { readonly kind: "store-available" };

export interface LeaseStoreOptions {
  /** `redis:`, `rediss:` (TLS), `valkey:` or `valkeys:` (TLS), with an optional user and database number. */
  readonly url: string;
  readonly password?: string | undefined;
  /** Used until the store has counted the processes, and as their lowest number. */
  readonly processesMin: number;
  readonly observe: (observation: LeaseStoreObservation) => void;
}

const callTimeoutMs = 50;
const callsInFlightMax = 1_000;
/** After this many failed calls in succession the store is unavailable; after a closed connection it is unavailable at once. */
const failuresMax = 3;
/** A process reports itself at this interval, and is counted for `processTtlMs` after its last report. */
const presenceIntervalMs = 1_000;
const processTtlMs = 5_000;
const connectTimeoutMs = 1_000;
/** Added to the delay before each further attempt to connect, up to the maximum. */
const reconnectDelayStepMs = 50;
const reconnectDelayMaxMs = 1_000;
const tlsUrl = /^(?:rediss|valkeys):/;
const processesKey = "tributary:rate-limit:processes";
/** 132 bits. */
const hashChars = 22;

/** Connects in the background. Never throws: without a connection `isAvailable` is false. */
export function createLeaseStore({ url, password, processesMin, observe }: LeaseStoreOptions): LeaseStore {
  const processId = randomUUID();
  const client = connect(url, password);
  let state: "connecting" | "available" | "unavailable" = "connecting";
  let failuresInSuccession = 0;
  let callsInFlight = 0;
  let processCount = processesMin;

  client.on("error", setUnavailable);
  client.on("close", () => setUnavailable(new Error("The connection to the store is closed")));
  client.on("ready", () => void reportPresence());
  const presenceTimer = setInterval(() => void reportPresence(), presenceIntervalMs).unref();

  function setUnavailable(cause: unknown): void {
    if (state === "unavailable") return;
    state = "unavailable";
    observe({ kind: "store-unavailable", cause });
  }

  function setAvailable(): void {
    failuresInSuccession = 0;
    if (state === "available") return;
    observe({ kind: "store-available" });
    state = "available";
  }

  async function call(script: Script, key: string, args: readonly (string | number)[]): Promise<unknown> {
    callsInFlight++;
    try {
      const result = await withTimeout(runScript(client, script, key, args));
      failuresInSuccession = 0;
      observe({ kind: "store-called", result: "ok" });
      return result;
    } catch (error) {
      observe({ kind: "store-called", result: "failed" });
      failuresInSuccession++;
      if (failuresInSuccession >= failuresMax) setUnavailable(error);
      throw error;
    } finally {
      callsInFlight--;
    }
  }

  /** Counts the processes. Its success also ends an outage. */
  async function reportPresence(): Promise<void> {
    if (client.status !== "ready") return;
    try {
      const count = Number(await call(presenceScript, processesKey, [processId, processTtlMs]));
      processCount = Math.max(count, processesMin);
      setAvailable();
    } catch {
      // `call` has counted the failure, and the next report tries again.
    }
  }

  return {
    isAvailable: () => state === "available" && callsInFlight < callsInFlightMax,
    processCount: () => processCount,
    async lease({ key, requestClass, quota, windowMs, credit, wanted }) {
      const result = await call(leaseScript, bucketKey(key, requestClass), [windowMs, quota, credit, wanted]);
      const [granted, resetMs] = Array.isArray(result) ? result.map(Number) : [];
      if (granted === undefined || resetMs === undefined) throw new Error("The store sent an unexpected result");
      return { granted, resetMs };
    },
    async close() {
      clearInterval(presenceTimer);
      // This close is not reported as an outage.
      client.removeAllListeners("close");
      if (client.status === "ready") await withTimeout(client.zrem(processesKey, processId)).catch(() => undefined);
      client.disconnect();
    },
  };
}

/** The caller's key is hashed, so that the store contains no user names and no tokens. A reader of the store can still test a guessed key. */
function bucketKey(key: string, requestClass: RequestClass): string {
  const hash = createHash("sha256").update(key).digest("base64url").slice(0, hashChars);
  return `tributary:rate-limit:${requestClass}:${hash}`;
}

function connect(url: string, password: string | undefined): Valkey {
  const storeUrl = new URL(url);
  // In iovalkey, a password of the options does not replace the empty one of a URL with a user.
  if (password !== undefined) storeUrl.password = encodeURIComponent(password);
  const options: RedisOptions = {
    connectionName: "tributary",
    // Calls of one iteration of the event loop are sent together.
    enableAutoPipelining: true,
    // A call without a connection fails at once, and a call that was in flight at a close is not repeated: it may have taken its units.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * reconnectDelayStepMs, reconnectDelayMaxMs),
  };
  if (tlsUrl.test(url)) options.tls = {};
  return new Valkey(storeUrl.href, options);
}

/** Sends the script's text only if the store does not know its hash: after the store's start, or after SCRIPT FLUSH. */
async function runScript(
  client: Valkey,
  { text, sha1 }: Script,
  key: string,
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha1, 1, key, ...args);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return client.eval(text, 1, key, ...args);
    throw error;
  }
}

function withTimeout<T>(result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`The store did not respond within ${callTimeoutMs} ms`));
    // After a long turn of the event loop the timer is due before the response is read: `setImmediate` lets the response be read first.
    const timer = setTimeout(() => setImmediate(fail), callTimeoutMs);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
