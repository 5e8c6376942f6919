// The check `aborts` of resilience: clients disconnect while fetches for them are in flight.
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../../../bench/measure/quantile.ts";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { respondJson, type Fault, type RunningSubgraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { withTimeout } from "./tested-gateway.ts";
import type { GraphqlClient } from "./graphql-client.ts";

const abortedMsMax = 100;
/** A fetch that is not aborted within this time counts as never aborted. */
const closeTimeoutMs = 2_000;
const fetchTimeoutMs = 10_000;
const startsPerSecond = 100;
/** A random delay before the client disconnects, so that it does not always happen at the same stage. */
const abortDelayMsMax = 20;
/** Long enough for a fetch to start that should not. */
const settleMs = 500;
const sharedPairsMax = 100;
const evenNumberPattern = /[02468]$/;

type SubgraphName = "people" | "books" | "ratings";

interface AbortCase {
  readonly query: string;
  /** Services that hold their response until the client has disconnected. */
  readonly heldServices: readonly SubgraphName[];
  /** Services that must not be fetched from afterwards. */
  readonly laterServices: readonly SubgraphName[];
}

const abortCases: Readonly<Record<string, AbortCase>> = {
  "a root fetch": {
    query: "{ person(id: 1) { name books { stars } } }",
    heldServices: ["people"],
    laterServices: ["books", "ratings"],
  },
  "an entity fetch": {
    query: "{ bestBook { title author { name } } }",
    heldServices: ["books"],
    laterServices: ["people"],
  },
  "two parallel fetches": {
    query: "{ books { title stars author { name } } }",
    heldServices: ["people", "ratings"],
    laterServices: [],
  },
  "the first of two mutations": {
    query: 'mutation { addBook(title: "T") { title stars } rename(id: 1, name: "A") { name } }',
    heldServices: ["books"],
    laterServices: ["people", "ratings"],
  },
};

export const abortsCheck: ResilienceCheck = {
  name: "aborts",
  purpose: "the fetches of a client that disconnects are aborted within 100 ms, and no later fetch starts",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const gateway = await context.startGateway(library.supergraphSdl);
    const client = context.createClient(gateway);
    const heldFetches = createHeldFetches(library);
    await abortAll(context, client, heldFetches);
    await checkSharedFetch(context, client, heldFetches);
  },
};

/** Holds the fetches of clients. The `authorization` header of a fetch is the client's name, because gateways forward it. */
interface HeldFetches {
  /**
   * Holds a client's fetch from this service, and resolves when the service has received it. Call it before the client sends its request: other
   * fetches get the normal response at once.
   */
  waitForFetch(service: SubgraphName, clientName: string): Promise<HeldFetch>;
  /** All fetches that the subgraphs have received. */
  readonly received: readonly ReceivedFetch[];
}

interface ReceivedFetch {
  readonly service: SubgraphName;
  readonly clientName: string;
}

/** A fetch to which the subgraph has not responded yet. */
interface HeldFetch {
  readonly response: ServerResponse;
  /** Responds, for clients that are still connected. */
  release(): Promise<void>;
}

function createHeldFetches({ people, books, ratings }: Library): HeldFetches {
  const received: ReceivedFetch[] = [];
  const waiting = new Map<string, (held: HeldFetch) => void>();
  const subgraphs: readonly (readonly [SubgraphName, RunningSubgraph])[] = [
    ["people", people],
    ["books", books],
    ["ratings", ratings],
  ];
  for (const [service, subgraph] of subgraphs) {
    const respondOrHold: Fault = async (response, _body, { headers }, executeNormally) => {
      const clientName = headers.authorization ?? "";
      received.push({ service, clientName });
      const writeResult = async () => JSON.stringify(await executeNormally());
      const onHeld = waiting.get(`${service} ${clientName}`);
      if (onHeld) onHeld(holdFetch(response, clientName, writeResult));
      else respondJson(response, 200, await writeResult());
    };
    subgraph.fault = respondOrHold;
  }
  return {
    received,
    waitForFetch: (service, clientName) => new Promise((resolve) => waiting.set(`${service} ${clientName}`, resolve)),
  };
}

/** If the number at the end of `clientName` is even, the client's response already has its headers and the first byte of its body. */
function holdFetch(response: ServerResponse, clientName: string, writeResult: () => Promise<string>): HeldFetch {
  response.setHeader("content-type", "application/json");
  if (evenNumberPattern.test(clientName)) response.write(" ");
  return {
    response,
    async release() {
      response.end(await writeResult());
    },
  };
}

async function abortAll(context: CheckContext, client: GraphqlClient, heldFetches: HeldFetches): Promise<void> {
  const cases = Object.entries(abortCases);
  const tookMsByKind = new Map<string, number[]>(cases.map(([kind]) => [kind, []]));

  async function abortAndRecord(kind: string, abortCase: AbortCase, clientNumber: number): Promise<void> {
    const tookMs = await abortRequest(abortCase, `${kind} ${clientNumber}`, client, heldFetches);
    tookMsByKind.get(kind)?.push(...tookMs);
  }

  const pending: Promise<void>[] = [];
  for (let i = 0; i < context.options.aborts; i++) {
    const nextCase = cases[i % cases.length];
    if (!nextCase) continue;
    const [kind, abortCase] = nextCase;
    // Counts within each kind, because `holdFetch` treats even and odd numbers differently.
    const clientNumber = Math.floor(i / cases.length);
    pending.push(abortAndRecord(kind, abortCase, clientNumber));
    await sleep(1_000 / startsPerSecond);
  }
  await Promise.all(pending);
  await sleep(settleMs);
  for (const [kind, { laterServices }] of cases) {
    reportAborts(context, kind, tookMsByKind.get(kind) ?? []);
    if (laterServices.length > 0) reportLater(context, kind, laterServices, heldFetches);
  }
}

/**
 * One client sends a request and disconnects.
 * @returns how long each held fetch remained open after that, in milliseconds. Infinity if a fetch was never aborted, or the client got its response
 * before all of these fetches were held.
 */
async function abortRequest(
  { query, heldServices }: AbortCase,
  clientName: string,
  client: GraphqlClient,
  heldFetches: HeldFetches,
): Promise<readonly number[]> {
  const abort = new AbortController();
  const held = heldServices.map((service) => heldFetches.waitForFetch(service, clientName));
  const ended = client.send(query, { signal: abort.signal, authorization: clientName }).catch(() => undefined);
  const fetches = await Promise.race([Promise.all(held), ended.then(() => [])]);
  if (fetches.length === 0) return heldServices.map(() => Infinity);
  await sleep(Math.random() * abortDelayMsMax);
  const abortedMs = performance.now();
  abort.abort();
  const tookMs = await Promise.all(fetches.map(async ({ response }) => (await waitForClose(response)) - abortedMs));
  // Fetches that were not aborted are completed.
  for (const { response, release } of fetches) if (!response.closed) await release();
  return tookMs;
}

/** Resolves with the time at which the subgraph's connection closed; Infinity if it is still open after `closeTimeoutMs`. */
function waitForClose(response: ServerResponse): Promise<number> {
  const close = new Promise<number>((resolve) => response.once("close", () => resolve(performance.now())));
  return withTimeout(closeTimeoutMs, close, () => "").catch(() => Infinity);
}

function reportAborts(context: CheckContext, kind: string, tookMs: readonly number[]): void {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(tookMs, share));
  const measured = `${tookMs.length} fetches aborted, p50 ${formatMs(p50)}, p99 ${formatMs(p99)}, longest ${formatMs(max)}`;
  const holds = tookMs.length > 0 && (max ?? Infinity) <= abortedMsMax;
  context.claim(`a disconnect during ${kind} reaches the subgraph within ${abortedMsMax} ms`, holds, measured);
}

function reportLater(
  context: CheckContext,
  kind: string,
  laterServices: readonly SubgraphName[],
  { received }: HeldFetches,
): void {
  const ofKind = received.filter(({ clientName }) => clientName.startsWith(`${kind} `));
  const laterCount = ofKind.filter(({ service }) => laterServices.includes(service)).length;
  const measured = `${laterCount} fetches from ${laterServices.join(" and ")} started`;
  context.claim(`no fetch starts after a disconnect during ${kind}`, laterCount === 0, measured);
}

/** Two equal concurrent requests may share a fetch, which must continue while one client is connected. */
async function checkSharedFetch(context: CheckContext, client: GraphqlClient, heldFetches: HeldFetches): Promise<void> {
  const query = "{ person(id: 1) { name } }";
  const expectedText = '{"data":{"person":{"name":"Ada"}}}';
  const pairCount = Math.min(sharedPairsMax, context.options.aborts);
  let completeCount = 0;
  let fetchCount = 0;
  for (let i = 0; i < pairCount; i++) {
    // Both clients have the same name, so that they may share a fetch. Its number is odd: the held fetch has no part of a response yet.
    const pairName = `pair ${2 * i + 1}`;
    const abort = new AbortController();
    const held = heldFetches.waitForFetch("people", pairName);
    const remainingRequest = client.send(query, { authorization: pairName });
    const abortedRequest = client.send(query, { authorization: pairName, signal: abort.signal }).catch(() => {});
    const { response, release } = await withTimeout(fetchTimeoutMs, held, () => `No fetch for ${pairName} is sent`);
    await sleep(abortDelayMsMax);
    abort.abort();
    await abortedRequest;
    await sleep(abortDelayMsMax);
    fetchCount += heldFetches.received.filter(({ clientName }) => clientName === pairName).length;
    if (!response.closed) await release();
    const result = await remainingRequest;
    if (result.text.trim() === expectedText) completeCount++;
  }
  const measured = `${completeCount} of ${pairCount} results complete; ${fetchCount} fetches for ${2 * pairCount} clients`;
  const areComplete = completeCount === pairCount;
  context.claim("a disconnect does not abort a fetch that another client shares", areComplete, measured);
}

function formatMs(ms: number | undefined): string {
  return ms === undefined || !Number.isFinite(ms) ? "never" : `${ms.toFixed(1)} ms`;
}
