// The check `attacks` of resilience: a client sends expensive documents, while another client sends regular requests.
import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { composeSupergraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import { startMaze, writeHeavyOperation } from "../../../../gateway/test/helpers/maze.ts";
import { describeFailures, describeLatencies, describeLoad, startLoad } from "../../traffic/open-loop.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { type GraphqlClient, noResponse, sendForCode } from "./graphql-client.ts";
import { sendRegular } from "./library.ts";

const rejectedMsMax = 50;
const regularMsMax = 100;
const rejectionsEach = 100;
const regularPerSecond = 20;
const rampMs = 3_000;

/** The attacking client and the regular client share a gateway, but no connection. */
interface AttackSetup {
  readonly context: CheckContext;
  readonly regularClient: GraphqlClient;
  readonly attackClient: GraphqlClient;
  readonly library: Library;
}

export const attacksCheck: ResilienceCheck = {
  name: "attacks",
  purpose: "oversized documents are rejected within 50 ms, and other clients wait at most 100 ms during an attack",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    const maze = await startMaze();
    const subgraphs = [...library.all, ...maze];
    context.onCleanup(() => Promise.all(subgraphs.map((subgraph) => subgraph.close())));
    const gateway = await context.startGateway(composeSupergraph(subgraphs));
    const regularClient = context.createClient(gateway);
    const attackClient = context.createClient(gateway);
    const setup: AttackSetup = { context, regularClient, attackClient, library };
    for (const [name, document] of Object.entries(oversizedDocuments)) await checkRejection(setup, name, document);
    for (const attack of attacks) await tryAttack(setup, attack);
  },
};

interface Attack {
  readonly name: string;
  readonly perSecond: number;
  /** @param requestNumber makes each document different. */
  write(requestNumber: number): string;
}

/** Documents that expand to more than 2,000 selections; some of a few hundred bytes expand to billions. */
const oversizedDocuments: Readonly<Record<string, string>> = {
  "2,001 selections, written out": `{ books { ${"title ".repeat(2_000)} } }`,
  "nested fragments, 2^30 selections": writeFragmentBomb(30),
  "two aliases per level, 2^25 selections": writeAliasBomb(25),
  "inline fragments around a fragment, 60,000 selections": writeInlineBomb(),
};

/** Documents that are sent repeatedly while the regular client sends requests. `n` is the number of the request. */
const attacks: readonly Attack[] = [
  { name: "fragment bombs", perSecond: 50, write: (n) => `${writeFragmentBomb(30)} #${n}` },
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

/** Sends the document repeatedly to an idle gateway: each must be rejected in time, without a subgraph request. */
async function checkRejection(
  { context, attackClient, library }: AttackSetup,
  name: string,
  document: string,
): Promise<void> {
  const fetchesBefore = countFetches(library);
  const latenciesMs: number[] = [];
  const otherCodes = new Set<string>();
  for (let sent = 0; sent < rejectionsEach; sent++) {
    const startMs = performance.now();
    const code = await sendForCode(attackClient, document);
    latenciesMs.push(performance.now() - startMs);
    if (code !== "SELECTION_LIMIT_EXCEEDED") otherCodes.add(code);
    // Each further request could also take until the timeout.
    if (code.startsWith(noResponse)) break;
  }
  const fetches = countFetches(library) - fetchesBefore;
  const slowestMs = Math.max(...latenciesMs);
  context.claim(
    `${name} (${document.length.toLocaleString("en")} bytes) is rejected within ${rejectedMsMax} ms`,
    otherCodes.size === 0 && slowestMs <= rejectedMsMax && fetches === 0,
    [`${latenciesMs.length} times, ${describeLatencies(latenciesMs)}, ${fetches} fetches`, ...otherCodes].join(", "),
  );
}

/** Both loads are open loops: neither client waits for the other's responses. */
async function tryAttack(setup: AttackSetup, { name, perSecond, write }: Attack): Promise<void> {
  const { context, regularClient, attackClient } = setup;
  const codes = new Map<string, number>();
  const regularLoad = startLoad({ perSecond: regularPerSecond, send: () => sendRegular(regularClient) });
  const attackLoad = startLoad({
    perSecond,
    async send(requestNumber) {
      const code = await sendForCode(attackClient, write(requestNumber));
      codes.set(code, (codes.get(code) ?? 0) + 1);
      return undefined;
    },
  });
  await sleep(rampMs);
  regularLoad.reset();
  await sleep(context.isQuick ? 3_000 : 30_000);
  const [regularReport] = await Promise.all([regularLoad.stop(), attackLoad.stop()]);
  const { count, latenciesMs, failures } = regularReport;
  context.claim(
    `another client waits at most ${regularMsMax} ms during ${name}`,
    count > 0 && failures.size === 0 && (latenciesMs.at(-1) ?? Infinity) <= regularMsMax,
    `${describeLoad(regularReport)}; the attack gets ${describeFailures(codes)}`,
  );
}

function countFetches({ all }: Library): number {
  return all.reduce((sum, { requests }) => sum + requests.length, 0);
}
