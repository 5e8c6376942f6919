// The check `attacks` of resilience: a client sends expensive documents, while another client sends regular requests.
import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { startMaze, writeHeavyOperation } from "../../../../gateway/test/helpers/maze.ts";
import { describeFailures, describeLoad, startLoad } from "../../traffic/open-loop.ts";
import { measureInTime } from "../../traffic/measure-in-time.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { type GraphqlClient, noResponse, sendForCode } from "./graphql-client.ts";
import { composeWide, sendRegular, startDiscardingRequests } from "./library.ts";
import { rssMbMax } from "./tested-gateway.ts";

const rejectedMsMax = 50;
const regularMsMax = 100;
const regularPerSecond = 20;
const rampMs = 3_000;

export const attacksCheck: ResilienceCheck = {
  name: "attacks",
  purpose: "oversized documents are rejected within 50 ms, and other clients wait at most 100 ms during an attack",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    const subgraphs = [...library.all, ...(await startMaze())];
    context.onCleanup(() => Promise.all(subgraphs.map((subgraph) => subgraph.close())));
    startDiscardingRequests(library, context);
    const gateway = await context.startGateway(composeWide(subgraphs));
    // They share a gateway, but no connection.
    const clients = { regular: context.createClient(gateway), attack: context.createClient(gateway) };
    // So that the operation is planned before the attacks.
    await sendRegular(clients.regular);
    for (const attack of attacks) await tryAttack(context, clients, attack);
    const highestMb = gateway.readPeakRssBytes() / 1e6;
    context.claim(`RSS stays below ${rssMbMax} MB`, highestMb < rssMbMax, `highest ${highestMb.toFixed(0)} MB`);
  },
};

interface Attack {
  readonly name: string;
  readonly perSecond: number;
  /** Whether the documents expand to more than 2,000 selections. */
  readonly isOversized?: true;
  /** @param requestNumber makes each document different. */
  write(requestNumber: number): string;
}

/** Documents that are sent repeatedly while the regular client sends requests. `n` is the number of the request. */
const attacks: readonly Attack[] = [
  {
    name: "2,001 selections, written out",
    perSecond: 20,
    isOversized: true,
    write: (n) => `{ books { ${"title ".repeat(2_000)} } } #${n}`,
  },
  // Of a few hundred bytes.
  {
    name: "nested fragments, 2^30 selections",
    perSecond: 50,
    isOversized: true,
    write: (n) => `${writeFragmentBomb(30)} #${n}`,
  },
  {
    name: "two aliases per level, 2^25 selections",
    perSecond: 20,
    isOversized: true,
    write: (n) => `${writeAliasBomb(25)} #${n}`,
  },
  {
    name: "inline fragments around a fragment, 60,000 selections",
    perSecond: 20,
    isOversized: true,
    write: (n) => `${writeInlineBomb()} #${n}`,
  },
  // Grace has written one book, so the result has one element at each level.
  {
    name: "deep documents",
    perSecond: 50,
    write: (n) => `{ a${n}: person(id: 2) { ${"books { author { ".repeat(30)} name ${"} }".repeat(30)} } }`,
  },
  { name: "unbalanced braces", perSecond: 50, write: (n) => `{ a${n}: people ${"{ books ".repeat(4_900)}` },
  { name: "long lists", perSecond: 50, write: (n) => `{ a${n}: person(id: [${"[1] ".repeat(2_000)}]) { name } }` },
  {
    name: "overlapping fields",
    perSecond: 5,
    write: (n) => `{ a${n}: books { ${"author { books { title } } ".repeat(600)} } }`,
  },
  // The second argument is the depth, which determines the planning time.
  { name: "operations with a long planning time", perSecond: 4, write: (n) => writeHeavyOperation(n, 2) },
  { name: "operations that exceed the planning deadline", perSecond: 1, write: (n) => writeHeavyOperation(n, 4) },
  { name: "introspection", perSecond: 10, write: writeIntrospection },
];

/** Each fragment spreads the next one twice: directly, and in an inline fragment. */
function writeFragmentBomb(levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, level) => `fragment F${level} on Book { ...F${level + 1} ... { ...F${level + 1} } }`,
  );
  return `query { books { ...F0 } } ${fragments.join(" ")} fragment F${levels} on Book { title }`;
}

/** Two aliased paths to the same fragment at each level: Apollo's planner needs half a minute. */
function writeAliasBomb(levels: number): string {
  const fragments = Array.from({ length: levels }, (_, level) => {
    const isPerson = level % 2 === 0;
    const type = isPerson ? "Person" : "Book";
    const field = isPerson ? "books" : "author";
    return `fragment F${level} on ${type} { a: ${field} { ...F${level + 1} } b: ${field} { ...F${level + 1} } }`;
  });
  const last = levels % 2 === 0 ? "Person { name }" : "Book { title }";
  return `query { people { ...F0 } } ${fragments.join(" ")} fragment F${levels} on ${last}`;
}

function writeInlineBomb(): string {
  return `query { books { ${"... on Book { ...F } ".repeat(300)} } } fragment F on Book { ${"title ".repeat(200)} }`;
}

/**
 * How often a document selects the whole schema; the documents take these numbers in turn. The smallest response has some 30 KB and is written by
 * the gateway's main thread, the largest is far above the gateway's limit.
 */
const schemaCounts = [1, 2, 5, 20, 180];

function writeIntrospection(n: number): string {
  const fields = "types { name fields { name args { name } type { name } } }";
  const count = schemaCounts[n % schemaCounts.length] ?? 1;
  return `{ __schema { ${Array.from({ length: count }, (_, i) => `a${n}_${i}: ${fields}`).join(" ")} } }`;
}

/** Both loads are open loops: neither client waits for the other's responses. */
async function tryAttack(
  context: CheckContext,
  clients: Readonly<Record<"regular" | "attack", GraphqlClient>>,
  { name, perSecond, isOversized, write }: Attack,
): Promise<void> {
  // Not the load's own number: a repeated measurement needs new documents, too.
  let requestNumber = 0;
  const [regular, attack] = await measureInTime(context, async () => {
    const regularLoad = startLoad({ perSecond: regularPerSecond, send: () => sendRegular(clients.regular) });
    const attackLoad = startLoad({ perSecond, send: () => sendForCode(clients.attack, write(requestNumber++)) });
    await sleep(rampMs);
    regularLoad.reset();
    attackLoad.reset();
    await sleep(context.isQuick ? 3_000 : 30_000);
    return Promise.all([regularLoad.stop(), attackLoad.stop()]);
  });
  // The codes of all responses to the attack.
  const codes = [...attack.failures.keys()];
  if (isOversized) {
    const isRejected = codes.join() === "SELECTION_LIMIT_EXCEEDED" && (attack.latenciesMs.at(-1) ?? 0) <= rejectedMsMax;
    context.claim(`${name}: each document is rejected within ${rejectedMsMax} ms`, isRejected, describeLoad(attack));
  } else {
    const hasResponses = codes.every((code) => !code.startsWith(noResponse));
    context.claim(`${name}: each document gets a response`, hasResponses, describeFailures(attack.failures));
  }
  const isUndisturbed = regular.failures.size === 0 && (regular.latenciesMs.at(-1) ?? Infinity) <= regularMsMax;
  context.claim(`${name}: another client waits at most ${regularMsMax} ms`, isUndisturbed, describeLoad(regular));
}
