// The check `aborts` of resilience: clients disconnect while fetches for them are in flight.
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { respondJson, type Fault, type RunningSubgraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import { percentile } from "../../traffic/open-loop.ts";
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
  /** Holds a client's fetch from this service. Call it before the client sends its request: other fetches get the normal response at once. */
  waitForFetch(service: SubgraphName, name: string): Promise<HeldFetch>;
  /** All fetches that the subgraphs have received. */
  readonly received: readonly { readonly service: SubgraphName; readonly name: string }[];
}

/** A fetch to which the subgraph has not responded yet. */
interface HeldFetch {
  readonly response: ServerResponse;
  /** Responds, for clients that are still connected. */
  release(): Promise<void>;
}

function createHeldFetches({ people, books, ratings }: Library): HeldFetches {
  const received: { service: SubgraphName; name: string }[] = [];
  const waiting = new Map<string, (held: HeldFetch) => void>();
  const subgraphs: readonly (readonly [SubgraphName, RunningSubgraph])[] = [
    ["people", people],
    ["books", books],
    ["ratings", ratings],
  ];
  for (const [service, subgraph] of subgraphs) {
    const respondOrHold: Fault = async (response, _body, { headers }, executeNormally) => {
      const name = headers.authorization ?? "";
      received.push({ service, name });
      const onFetch = waiting.get(`${service} ${name}`);
      if (!onFetch) return respondJson(response, 200, JSON.stringify(await executeNormally()));
      onFetch(holdFetch(response, name, async () => JSON.stringify(await executeNormally())));
    };
    subgraph.fault = respondOrHold;
  }
  return {
    received,
    waitForFetch: (service, name) => new Promise((resolve) => waiting.set(`${service} ${name}`, resolve)),
  };
}

/** Every second held fetch (by the number at the end of `name`) already has response headers and the first byte of the body. */
function holdFetch(response: ServerResponse, name: string, writeResult: () => Promise<string>): HeldFetch {
  response.setHeader("content-type", "application/json");
  if (/[02468]$/.test(name)) response.write(" ");
  return { response, release: async () => void response.end(await writeResult()) };
}

async function abortAll(context: CheckContext, client: GraphqlClient, heldFetches: HeldFetches): Promise<void> {
  const kinds = Object.entries(abortCases);
  const tookMs = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]));
  const aborting: Promise<void>[] = [];
  for (let i = 0; i < context.options.aborts; i++) {
    const [kind, abortCase] = kinds[i % kinds.length] ?? [];
    if (!abortCase) continue;
    // `holdFetch` alternates by this number within each kind.
    const numberOfKind = Math.floor(i / kinds.length);
    aborting.push(
      abortRequest(abortCase, `${kind} ${numberOfKind}`, client, heldFetches).then(
        (times) => void tookMs.get(kind ?? "")?.push(...times),
      ),
    );
    await sleep(1_000 / startsPerSecond);
  }
  await Promise.all(aborting);
  await sleep(settleMs);
  for (const [kind, { laterServices }] of kinds) {
    reportAborts(context, kind, tookMs.get(kind) ?? []);
    if (laterServices.length > 0) reportLater(context, kind, laterServices, heldFetches);
  }
}

/**
 * One client sends a request and disconnects.
 * @returns how long each held fetch remained open after that, in milliseconds; Infinity if it was never aborted, or a response came before it.
 */
async function abortRequest(
  { query, heldServices }: AbortCase,
  name: string,
  client: GraphqlClient,
  heldFetches: HeldFetches,
): Promise<readonly number[]> {
  const abort = new AbortController();
  const held = heldServices.map((service) => heldFetches.waitForFetch(service, name));
  const response = client.send(query, { signal: abort.signal, authorization: name }).catch(() => undefined);
  const fetches = await Promise.race([Promise.all(held), response.then(() => [])]);
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
  const ascending = tookMs.toSorted((a, b) => a - b);
  const [p50, p99, max] = [50, 99, 100].map((percent) => percentile(ascending, percent));
  const measured = `${tookMs.length} fetches aborted, p50 ${formatMs(p50)}, p99 ${formatMs(p99)}, longest ${formatMs(max)}`;
  const holds = tookMs.length > 0 && (max ?? Infinity) <= abortedMsMax;
  context.claim(`a disconnect during ${kind} reaches the subgraph within ${abortedMsMax} ms`, holds, measured);
}

function reportLater(
  context: CheckContext,
  kind: string,
  later: readonly SubgraphName[],
  { received }: HeldFetches,
): void {
  const startedFetches = received.filter(({ service, name }) => name.startsWith(`${kind} `) && later.includes(service));
  const measured = `${startedFetches.length} fetches from ${later.join(" and ")} started`;
  context.claim(`no fetch starts after a disconnect during ${kind}`, startedFetches.length === 0, measured);
}

/** Two equal concurrent requests may share a fetch, which must continue while one client is connected. */
async function checkSharedFetch(context: CheckContext, client: GraphqlClient, heldFetches: HeldFetches): Promise<void> {
  const query = "{ person(id: 1) { name } }";
  const expectedText = '{"data":{"person":{"name":"Ada"}}}';
  const count = Math.min(sharedPairsMax, context.options.aborts);
  let complete = 0;
  let fetches = 0;
  for (let i = 0; i < count; i++) {
    // Odd: the held fetch has no part of a response yet.
    const name = `pair ${2 * i + 1}`;
    const abort = new AbortController();
    const first = heldFetches.waitForFetch("people", name);
    const remainingRequest = client.send(query, { authorization: name });
    const abortedRequest = client.send(query, { authorization: name, signal: abort.signal }).catch(() => {});
    const { response, release } = await withTimeout(fetchTimeoutMs, first, () => `No fetch for ${name} is sent`);
    await sleep(abortDelayMsMax);
    abort.abort();
    await abortedRequest;
    await sleep(abortDelayMsMax);
    fetches += heldFetches.received.filter((fetch) => fetch.name === name).length;
    if (!response.closed) await release();
    const result = await remainingRequest;
    if (result.text.trim() === expectedText) complete++;
  }
  const measured = `${complete} of ${count} results complete; ${fetches} fetches for ${2 * count} clients`;
  context.claim("a disconnect does not abort a fetch that another client shares", complete === count, measured);
}

function formatMs(ms: number | undefined): string {
  return ms === undefined || !Number.isFinite(ms) ? "never" : `${ms.toFixed(1)} ms`;
}
