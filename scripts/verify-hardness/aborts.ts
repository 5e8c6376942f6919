import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../gateway/test/helpers/library.ts";
import { answerJson, type Fault, type RunningSubgraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { Check, Finding, Scene } from "./check.ts";
import { within } from "./gateway-process.ts";
import { percentile } from "../processes/open-loop.ts";
import { type Client, createClient } from "./requests.ts";

const abortedMsMax = 100;
/** A fetch that is not cut off by then never is. */
const patienceMs = 2_000;
const startsPerSecond = 100;
/** A client stays a while, so that it goes at any moment. */
const stayMsMax = 20;
/** Long enough for a step to begin that should not. */
const aftermathMs = 500;
const sharedPairsMax = 100;

type Service = "people" | "books" | "ratings";

interface Departure {
  readonly query: string;
  /** These answer no more while the client waits for them, */
  readonly holds: readonly Service[];
  /** and these come later, or not at all. */
  readonly later: readonly Service[];
}

const departures: Readonly<Record<string, Departure>> = {
  "a root fetch": {
    query: "{ person(id: 1) { name books { stars } } }",
    holds: ["people"],
    later: ["books", "ratings"],
  },
  "an entity fetch": { query: "{ bestBook { title author { name } } }", holds: ["books"], later: ["people"] },
  "two fetches beside each other": {
    query: "{ books { title stars author { name } } }",
    holds: ["people", "ratings"],
    later: [],
  },
  "the first of two mutations": {
    query: 'mutation { addBook(title: "T") { title stars } rename(id: 1, name: "A") { name } }',
    holds: ["books"],
    later: ["people", "ratings"],
  },
};

export const abortsCheck: Check = {
  name: "aborts",
  claim: "a client that goes away takes its fetches with it in 100 ms, and no later step begins",
  stockFails: true,
  async run(scene) {
    const library = await startLibrary();
    scene.onEnd(() => library.close());
    const gateway = await scene.startGateway(library.supergraphSdl);
    const client = createClient(gateway.url);
    scene.onEnd(() => client.close());
    const holding = createHolding(library);
    await departAll(scene, client, holding);
    await tryShared(scene, client, holding);
  },
};

/** Holds fetches of clients that are known by their `authorization`, which gateways pass on. */
interface Holding {
  held(service: Service, name: string): Promise<Held>;
  /** Fetches for a client that have come, by service. */
  readonly came: readonly { readonly service: Service; readonly name: string }[];
}

/** A fetch from the subgraph's side. */
interface Held {
  readonly response: ServerResponse;
  /** Answers after all, whoever may still listen. */
  release(): Promise<void>;
}

function createHolding({ people, books, ratings }: Library): Holding {
  const came: { service: Service; name: string }[] = [];
  const waiting = new Map<string, (held: Held) => void>();
  const subgraphs: readonly (readonly [Service, RunningSubgraph])[] = [
    ["people", people],
    ["books", books],
    ["ratings", ratings],
  ];
  for (const [service, subgraph] of subgraphs) {
    const act: Fault = async (response, _body, { headers }, answerTruly) => {
      const name = headers.authorization ?? "";
      came.push({ service, name });
      const take = waiting.get(`${service} ${name}`);
      if (!take) return answerJson(response, 200, JSON.stringify(await answerTruly()));
      take(hold(response, name, async () => JSON.stringify(await answerTruly())));
    };
    subgraph.fault = act;
  }
  return {
    came,
    held: (service, name) => new Promise((resolve) => waiting.set(`${service} ${name}`, resolve)),
  };
}

/** Every second one has begun to answer. */
function hold(response: ServerResponse, name: string, writeTruth: () => Promise<string>): Held {
  response.setHeader("content-type", "application/json");
  if (/[02468]$/.test(name)) response.write(" ");
  return { response, release: async () => void response.end(await writeTruth()) };
}

async function departAll(scene: Scene, client: Client, holding: Holding): Promise<void> {
  const kinds = Object.entries(departures);
  const tookMs = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]));
  const departing: Promise<void>[] = [];
  for (let i = 0; i < scene.options.aborts; i++) {
    const [kind, departure] = kinds[i % kinds.length] ?? [];
    if (!departure) continue;
    departing.push(
      depart(departure, `${kind} ${i}`, client, holding).then((times) => void tookMs.get(kind ?? "")?.push(...times)),
    );
    await sleep(1_000 / startsPerSecond);
  }
  await Promise.all(departing);
  await sleep(aftermathMs);
  for (const [kind, { later }] of kinds) {
    scene.find(describeDepartures(kind, tookMs.get(kind) ?? []));
    if (later.length > 0) scene.find(describeLater(kind, later, holding));
  }
}

/** One client comes, waits and goes. @returns how long each held fetch went on after it. */
async function depart(
  { query, holds }: Departure,
  name: string,
  client: Client,
  holding: Holding,
): Promise<readonly number[]> {
  const leaving = new AbortController();
  const held = holds.map((service) => holding.held(service, name));
  const answer = client.ask(query, { signal: leaving.signal, authorization: name }).catch(() => undefined);
  const fetches = await Promise.race([Promise.all(held), answer.then(() => [])]);
  if (fetches.length === 0) return holds.map(() => Infinity);
  await sleep(Math.random() * stayMsMax);
  const leftMs = performance.now();
  leaving.abort();
  const tookMs = await Promise.all(fetches.map(async ({ response }) => (await closed(response)) - leftMs));
  // Whoever still listens goes on now.
  for (const { response, release } of fetches) if (!response.closed) await release();
  return tookMs;
}

/** When the subgraph learned of it; Infinity for never. */
function closed(response: ServerResponse): Promise<number> {
  const close = new Promise<number>((resolve) => response.once("close", () => resolve(performance.now())));
  return within(patienceMs, close, () => "").catch(() => Infinity);
}

function describeDepartures(kind: string, tookMs: readonly number[]): Finding {
  const ascending = tookMs.toSorted((a, b) => a - b);
  const [p50, p99, max] = [50, 99, 100].map((percent) => percentile(ascending, percent));
  const measured = `${tookMs.length} fetches cut off, p50 ${show(p50)}, p99 ${show(p99)}, longest ${show(max)}`;
  const holds = tookMs.length > 0 && (max ?? Infinity) <= abortedMsMax;
  return { claim: `a client that goes during ${kind} reaches the subgraph in ${abortedMsMax} ms`, holds, measured };
}

function describeLater(kind: string, later: readonly Service[], { came }: Holding): Finding {
  const begun = came.filter(({ service, name }) => name.startsWith(`${kind} `) && later.includes(service));
  const measured = `${begun.length} fetches from ${later.join(" and ")} began`;
  return { claim: `nothing begins after ${kind} whose client is gone`, holds: begun.length === 0, measured };
}

/** Two clients who ask the same at once may share a fetch: it lives as long as one of them. */
async function tryShared(scene: Scene, client: Client, holding: Holding): Promise<void> {
  const query = "{ person(id: 1) { name } }";
  const truth = '{"data":{"person":{"name":"Ada"}}}';
  const count = Math.min(sharedPairsMax, scene.options.aborts);
  let whole = 0;
  let fetches = 0;
  for (let i = 0; i < count; i++) {
    const name = `pair ${2 * i + 1}`;
    const leaving = new AbortController();
    const first = holding.held("people", name);
    const stays = client.ask(query, { authorization: name });
    const goes = client.ask(query, { authorization: name, signal: leaving.signal }).catch(() => {});
    const { response, release } = await first;
    await sleep(stayMsMax);
    leaving.abort();
    await goes;
    await sleep(stayMsMax);
    fetches += holding.came.filter((fetch) => fetch.name === name).length;
    if (!response.closed) await release();
    const answer = await stays;
    if (answer.text.trim() === truth) whole++;
  }
  const measured = `${whole} of ${count} were answered; ${fetches} fetches for ${2 * count} clients`;
  scene.find({ claim: "a client that goes takes nobody else's fetch with it", holds: whole === count, measured });
}

function show(ms: number | undefined): string {
  return ms === undefined || !Number.isFinite(ms) ? "never" : `${ms.toFixed(1)} ms`;
}
