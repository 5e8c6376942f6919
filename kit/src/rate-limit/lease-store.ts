/** One key per caller and class, and one with the running processes. */
import { createHash, randomUUID } from "node:crypto";
import type { Valkey } from "iovalkey";
import { connectValkey, withTimeout } from "../valkey/connection.ts";
import type { RequestClass } from "./rate-decision.ts";
import { type Script, leaseScript, presenceScript } from "./store-scripts.ts";

export interface LeaseStore {
  /** False also while too many calls are in flight: then each process counts its share of the limit. */
  isAvailable(): boolean;
  processCount(): number;
  /** @throws Error after 50 ms; the store may have taken the units nevertheless. */
  lease(request: LeaseRequest): Promise<LeaseGrant>;
  close(): Promise<void>;
}

export interface LeaseRequest {
  readonly key: string;
  readonly requestClass: RequestClass;
  readonly quota: number;
  readonly windowMs: number;
  /** Units admitted without a lease: taken even if the bucket is empty. */
  readonly credit: number;
  readonly wanted: number;
}

export interface LeaseGrant {
  readonly granted: number;
  /** Above the window: the caller owes units. */
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
  /** Also before the store has counted the processes. */
  readonly processesMin: number;
  readonly observe: (observation: LeaseStoreObservation) => void;
}

const callsInFlightMax = 1_000;
/** In succession; after a closed connection the store is unavailable at once. */
const failuresMax = 3;
/** A process is counted for `processTtlMs` after its last report. */
const presenceIntervalMs = 1_000;
const processTtlMs = 5_000;
const processesKey = "tributary:rate-limit:processes";
const hashChars = 22;

/** Connects in the background, and never throws. */
export function createLeaseStore({ url, password, processesMin, observe }: LeaseStoreOptions): LeaseStore {
  const processId = randomUUID();
  const client = connectValkey(url, password);
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

  /** Its success also ends an outage. */
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
      client.removeAllListeners("close");
      if (client.status === "ready") await withTimeout(client.zrem(processesKey, processId)).catch(() => undefined);
      client.disconnect();
    },
  };
}

/** Hashed, so that the store contains no user names and no tokens. A reader can still test a guessed key. */
function bucketKey(key: string, requestClass: RequestClass): string {
  const hash = createHash("sha256").update(key).digest("base64url").slice(0, hashChars);
  return `tributary:rate-limit:${requestClass}:${hash}`;
}

/** The text only if the store does not know its hash: after its start, or after SCRIPT FLUSH. */
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
