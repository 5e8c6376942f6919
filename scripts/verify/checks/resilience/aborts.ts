// The check `aborts` of resilience: clients disconnect while fetches for them are in flight.
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { type Fault, respondJson } from "../../../../gateway/test/helpers/subgraphs.ts";
import { describeLatencies } from "../../traffic/open-loop.ts";
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
const services = ["people", "books", "ratings"] as const;
type SubgraphName = (typeof services)[number];

interface AbortCase {
  readonly name: string;
  readonly query: string;
  /** Services that hold their response until the client has disconnected. */
  readonly heldServices: readonly SubgraphName[];
  /** Services that must not be fetched from afterwards. */
  readonly laterServices: readonly SubgraphName[];
}

const abortCases: readonly AbortCase[] = [
  {
    name: "a root fetch",
    query: "{ person(id: 1) { name books { stars } } }",
    heldServices: ["people"],
    laterServices: ["books", "ratings"],
  },
  {
    name: "an entity fetch",
    query: "{ bestBook { title author { name } } }",
    heldServices: ["books"],
    laterServices: ["people"],
  },
  {
    name: "two parallel fetches",
    query: "{ books { title stars author { name } } }",
    heldServices: ["people", "ratings"],
    laterServices: [],
  },
  {
    name: "the first of two mutations",
    query: 'mutation { addBook(title: "T") { title stars } rename(id: 1, name: "A") { name } }',
    heldServices: ["books"],
    laterServices: ["people", "ratings"],
  },
];

export const abortsCheck: ResilienceCheck = {
  name: "aborts",
  purpose: "the fetches of a client that disconnects are aborted within 100 ms, and no later fetch starts",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const gateway = await context.startGateway(library.supergraphSdl);
    const client = context.createClient(gateway);
    const heldFetches = holdFetches(library);
    const tookMs = new Map<AbortCase, number[]>(abortCases.map((abortCase) => [abortCase, []]));
    const abortAndRecord = async (abortCase: AbortCase, clientNumber: number) => {
      const clientName = `${abortCase.name} ${clientNumber}`;
      const ms = await abortRequest(abortCase, clientName, client, heldFetches);
      tookMs.get(abortCase)?.push(...ms);
    };
    const pending: Promise<void>[] = [];
    for (let i = 0; i < context.sizes.aborts; i++) {
      const abortCase = abortCases[i % abortCases.length] as AbortCase;
      // Numbered within each case, because `holdFetches` treats even and odd numbers differently.
      pending.push(abortAndRecord(abortCase, Math.floor(i / abortCases.length)));
      await sleep(1_000 / startsPerSecond);
    }
    await Promise.all(pending);
    await sleep(settleMs);
    for (const [{ name, laterServices }, ms] of tookMs) {
      const ascending = ms.toSorted((a, b) => a - b);
      context.claim(
        `a disconnect during ${name} reaches the subgraph within ${abortedMsMax} ms`,
        ascending.length > 0 && (ascending.at(-1) ?? Infinity) <= abortedMsMax,
        `${ascending.length} fetches, ${describeLatencies(ascending)}`,
      );
      const later = heldFetches.received.filter(
        ({ clientName, service }) => clientName.startsWith(`${name} `) && laterServices.includes(service),
      );
      context.claim(`no fetch starts after a disconnect during ${name}`, later.length === 0, `${later.length} start`);
    }
    await checkSharedFetch(context, client, heldFetches);
  },
};

interface HeldFetches {
  /**
   * Holds a client's fetch from this service, and resolves when the service has received it. Call it before the client sends its request: other
   * fetches get the normal response at once.
   */
  waitForFetch(service: SubgraphName, clientName: string): Promise<HeldFetch>;
  /** All fetches that the subgraphs have received. */
  readonly received: readonly { readonly service: SubgraphName; readonly clientName: string }[];
}

/** A fetch to which the subgraph has not responded yet. */
interface HeldFetch {
  readonly response: ServerResponse;
  /** Responds, for clients that are still connected. */
  release(): Promise<void>;
}

/** Holds the fetches of clients. The `authorization` header of a fetch is the client's name, because gateways forward it. */
function holdFetches(library: Library): HeldFetches {
  const received: { service: SubgraphName; clientName: string }[] = [];
  const waiting = new Map<string, (held: HeldFetch) => void>();
  for (const service of services) {
    const respondOrHold: Fault = async (response, _body, { headers }, executeNormally) => {
      const clientName = headers.authorization ?? "";
      received.push({ service, clientName });
      const writeResult = async () => JSON.stringify(await executeNormally());
      const onHeld = waiting.get(`${service} ${clientName}`);
      if (!onHeld) return respondJson(response, 200, await writeResult());
      response.setHeader("content-type", "application/json");
      // Every second response already has its headers and the first byte of its body.
      if (/[02468]$/.test(clientName)) response.write(" ");
      onHeld({ response, release: async () => void response.end(await writeResult()) });
    };
    library[service].fault = respondOrHold;
  }
  return {
    received,
    waitForFetch: (service, clientName) => new Promise((resolve) => waiting.set(`${service} ${clientName}`, resolve)),
  };
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
  return withTimeout(closeTimeoutMs, close, new Error("open")).catch(() => Infinity);
}

/** Two equal concurrent requests may share a fetch, which must continue while one client is connected. */
async function checkSharedFetch(context: CheckContext, client: GraphqlClient, heldFetches: HeldFetches): Promise<void> {
  const query = "{ person(id: 1) { name } }";
  const pairCount = Math.min(sharedPairsMax, context.sizes.aborts);
  let completeCount = 0;
  for (let i = 0; i < pairCount; i++) {
    // Both clients have the same name, so that they may share a fetch. Its number is odd: the held fetch has no part of a response yet.
    const authorization = `pair ${2 * i + 1}`;
    const abort = new AbortController();
    const held = heldFetches.waitForFetch("people", authorization);
    const remainingRequest = client.send(query, { authorization });
    const abortedRequest = client.send(query, { authorization, signal: abort.signal }).catch(() => {});
    const { response, release } = await withTimeout(fetchTimeoutMs, held, new Error(`No fetch for ${authorization}`));
    await sleep(abortDelayMsMax);
    abort.abort();
    await abortedRequest;
    await sleep(abortDelayMsMax);
    if (!response.closed) await release();
    const { text } = await remainingRequest;
    if (text.trim() === '{"data":{"person":{"name":"Ada"}}}') completeCount++;
  }
  context.claim(
    "a disconnect does not abort a fetch that another client shares",
    completeCount === pairCount,
    `${completeCount} of ${pairCount} results complete`,
  );
}
