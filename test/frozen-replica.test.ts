import { setTimeout as sleep } from "node:timers/promises";
import { startReplicaProcess } from "@tributary/kit/testing/replica-process";
import { expect, onTestFinished, test } from "vitest";
import { createSubgraphClient } from "../gateway/src/run/subgraph-client.ts";
import { createServiceClient } from "../rest-proxy/src/forward/client.ts";

// A process that is stopped accepts connections, and never responds: as one that is deadlocked, or swapped out.

const readsPerSecond = 40;
const frozenMs = 4_000;
/** Reads that may fail. Without a deadline per attempt 16 of 1,320 failed, each after 10 s. */
const failuresMax = 3;
const ejectedWithinMs = 2_000;

interface Client {
  /** Whether the read got a response. */
  read(): Promise<boolean>;
  close(): Promise<void>;
}

type Observe = (observation: { readonly kind: string }) => void;

const signal = new AbortController().signal;
const clients: Record<string, (urls: readonly string[], observe: Observe) => Client> = {
  "the gateway's client": (urls, observe) => {
    const options = { name: "users", urls, timeoutMs: 10_000, bodyBytesMax: 1_000, writes: { settled: 0 }, observe };
    const client = createSubgraphClient(options);
    return {
      close: client.close,
      async read() {
        const reply = await client.post("{}", { headers: [], isIdempotent: true, signal, traced: undefined });
        return reply.kind === "response" && reply.status === 200;
      },
    };
  },
  "the REST proxy's client": (urls, observe) => {
    const limits = { requestsMax: 1_024, timeoutMs: 10_000, readTimeoutMs: 10_000 };
    const client = createServiceClient({ service: "users", urls, ...limits, observe });
    const request = { method: "GET", target: "/", headers: [], body: undefined, signal };
    const hasSucceeded = async () => (await client.sendByUndici(request)).status === 200;
    return { close: client.close, read: () => hasSucceeded().catch(() => false) };
  },
};

test.skipIf(process.platform === "win32").each(Object.keys(clients))(
  "%s loses at most 3 reads to a frozen replica, and ejects it within 2 s",
  async (name) => {
    const [frozen, other] = await Promise.all([startReplicaProcess(), startReplicaProcess()]);
    let frozenAtMs = Infinity;
    let ejectedAfterMs = Infinity;
    const client = clients[name]?.([frozen.url, other.url], ({ kind }) => {
      if (kind === "replica-ejected") ejectedAfterMs = Math.min(ejectedAfterMs, performance.now() - frozenAtMs);
    });
    if (!client) throw new Error(`no client is called ${name}`);
    const results: Promise<boolean>[] = [];
    const timer = setInterval(() => results.push(client.read()), 1_000 / readsPerSecond);
    onTestFinished(() => clearInterval(timer));
    await sleep(1_000);
    frozenAtMs = performance.now();
    frozen.kill("SIGSTOP");
    await sleep(frozenMs);
    clearInterval(timer);
    const failures = (await Promise.all(results)).filter((hasSucceeded) => !hasSucceeded).length;
    frozen.kill("SIGCONT");
    await client.close();
    expect(failures).toBeLessThanOrEqual(failuresMax);
    expect(ejectedAfterMs).toBeLessThanOrEqual(ejectedWithinMs);
  },
  30_000,
);
