// Texts by their SHA-256, which processes share by Valkey or Redis. It is a cache: a client that sent a lost text sends it again.
import { createHash } from "node:crypto";
import { connectValkey, withTimeout } from "./connection.ts";

export interface SharedTexts {
  /** Undefined also if the store is down, or late by 50 ms. The text has this hash, whatever the store contains. Never rejects. */
  find(hash: string): Promise<string | undefined>;
  /** Does not wait for the store, and stores nothing while it is down. */
  store(hash: string, text: string): void;
  close(): void;
}

/** One text for each value of these digits, so 4,096 texts or 35 MB at most, whatever clients send. A text replaces the one in its place. */
const placeDigits = 3;
/** A longer text is not stored. With 8,000 bytes the store takes 8,192 for a text. */
const textBytesMax = 8_000;
const ttlSeconds = 86_400;
/** After a failure. No caller waits for the store meanwhile. */
const pauseMs = 1_000;
const callsInFlightMax = 100;

/** @param url as of `connectValkey` @param keyPrefix of the keys in the store */
export function createSharedTexts(url: string, password: string | undefined, keyPrefix: string): SharedTexts {
  const client = connectValkey(url, password);
  let pausedUntilMs = 0;
  let callsInFlight = 0;
  // The lease store reports an outage of the same server.
  client.on("error", () => {});

  async function call<T>(command: () => Promise<T>): Promise<T | undefined> {
    const isPaused = performance.now() < pausedUntilMs;
    if (client.status !== "ready" || isPaused || callsInFlight >= callsInFlightMax) return undefined;
    callsInFlight++;
    try {
      return await withTimeout(command());
    } catch {
      pausedUntilMs = performance.now() + pauseMs;
      return undefined;
    } finally {
      callsInFlight--;
    }
  }

  const keyOf = (hash: string) => `${keyPrefix}:${hash.slice(0, placeDigits)}`;
  return {
    async find(hash) {
      const text = await call(() => client.get(keyOf(hash)));
      return typeof text === "string" && sha256(text) === hash ? text : undefined;
    },
    store(hash, text) {
      if (Buffer.byteLength(text) > textBytesMax) return;
      void call(() => client.set(keyOf(hash), text, "EX", ttlSeconds));
    },
    close: () => client.disconnect(),
  };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
