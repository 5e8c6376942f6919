import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../gateway/test/helpers/library.ts";
import { composeSupergraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { ResilienceCheck, Finding, CheckContext } from "./check.ts";
import type { MonitoredGateway } from "./platform/gateway-process.ts";
import {
  describeFailures,
  describeLatencies,
  describeLoad,
  type LoadReport,
  startLoad,
} from "../processes/open-loop.ts";
import { startMaze, writeHeavyOperation } from "../../gateway/test/helpers/maze.ts";
import { type GraphqlClient, createGraphqlClient } from "./graphql-client.ts";

const rejectedMsMax = 50;
const regularMsMax = 100;
const rejectionsEach = 100;
const regularPerSecond = 20;
const rampMs = 3_000;

/** The attacking client and the regular client share a gateway, but no connection. */
interface AttackSetup {
  readonly context: CheckContext;
  readonly gateway: MonitoredGateway;
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
    const [regularClient, attackClient] = [createGraphqlClient(gateway.url), createGraphqlClient(gateway.url)];
    for (const client of [regularClient, attackClient]) context.onCleanup(() => client.close());
    const setup: AttackSetup = { context, gateway, regularClient, attackClient, library };
    for (const [name, text] of Object.entries(oversizedDocuments))
      context.report(await checkRejection(setup, name, text));
    for (const attack of attacks) await tryAttack(setup, attack);
  },
};

/** Documents that expand to more than 2,000 selections; some of a few hundred bytes expand to billions. */
const oversizedDocuments: Readonly<Record<string, string>> = {
  "2,001 selections, written out": `{ books { ${"title ".repeat(2_000)} } }`,
  "nested fragments, 2^30 selections": writeFragmentBomb(30),
  "two aliases per level, 2^25 selections": writeAliasBomb(25),
  "inline fragments around a fragment, 60,000 selections": writeInlineBomb(),
};

/** Documents that are sent repeatedly while the regular client sends requests. `count` makes each document different. */
const attacks: readonly Attack[] = [
  { name: "fragment bombs", perSecond: 50, write: (count) => `${writeFragmentBomb(30)} #${count}` },
  // Grace has written one book, so the result has one element at each level.
  {
    name: "deep documents",
    perSecond: 50,
    write: (count) => `{ a${count}: person(id: 2) { ${"books { author { ".repeat(30)} name ${"} }".repeat(30)} } }`,
  },
  { name: "unbalanced braces", perSecond: 50, write: (count) => `{ a${count}: people ${"{ books ".repeat(4_900)}` },
  {
    name: "long lists",
    perSecond: 50,
    write: (count) => `{ a${count}: person(id: [${"[1] ".repeat(2_000)}]) { name } }`,
  },
  {
    name: "overlapping fields",
    perSecond: 5,
    write: (count) => `{ a${count}: books { ${"author { books { title } } ".repeat(600)} } }`,
  },
  { name: "operations with a long planning time", perSecond: 4, write: (count) => writeHeavyOperation(count, 2) },
  {
    name: "operations that exceed the planning deadline",
    perSecond: 1,
    write: (count) => writeHeavyOperation(count, 4),
  },
];

interface Attack {
  readonly name: string;
  readonly perSecond: number;
  write(count: number): string;
}

function writeFragmentBomb(levels: number): string {
  const fragment = (_: unknown, level: number) =>
    `fragment F${level} on Book { ...F${level + 1} ... { ...F${level + 1} } }`;
  return `query { books { ...F0 } } ${Array.from({ length: levels }, fragment).join(" ")} fragment F${levels} on Book { title }`;
}

/** Two aliased paths to the same fragment at each level: Apollo's planner needs half a minute. */
function writeAliasBomb(levels: number): string {
  const fragment = (_: unknown, level: number) => {
    const [type, field] = level % 2 === 0 ? ["Person", "books"] : ["Book", "author"];
    return `fragment F${level} on ${type} { a: ${field} { ...F${level + 1} } b: ${field} { ...F${level + 1} } }`;
  };
  const last = levels % 2 === 0 ? "Person { name }" : "Book { title }";
  return `query { people { ...F0 } } ${Array.from({ length: levels }, fragment).join(" ")} fragment F${levels} on ${last}`;
}

function writeInlineBomb(): string {
  return `query { books { ${"... on Book { ...F } ".repeat(300)} } } fragment F on Book { ${"title ".repeat(200)} }`;
}

/** Sends the document repeatedly to an idle gateway: each must be rejected in time, without a subgraph request. */
async function checkRejection({ attackClient, library }: AttackSetup, name: string, text: string): Promise<Finding> {
  const fetchesBefore = countFetches(library);
  const latenciesMs: number[] = [];
  const otherCodes = new Set<string>();
  for (let times = 0; times < rejectionsEach; times++) {
    const startMs = performance.now();
    const code = await readCode(attackClient, text);
    latenciesMs.push(performance.now() - startMs);
    if (code !== "SELECTION_LIMIT_EXCEEDED") otherCodes.add(code);
    // A request that hangs would hang a hundred times; one is enough.
    if (code.startsWith("Error")) break;
  }
  const fetches = countFetches(library) - fetchesBefore;
  const slowestMs = Math.max(...latenciesMs);
  return {
    claim: `${name} (${text.length.toLocaleString("en")} bytes) is rejected within ${rejectedMsMax} ms`,
    passed: otherCodes.size === 0 && slowestMs <= rejectedMsMax && fetches === 0,
    measured: [
      `${latenciesMs.length} times, ${describeLatencies(latenciesMs)}, ${fetches} fetches`,
      ...otherCodes,
    ].join(", "),
  };
}

/** Both loads are open loops: neither client waits for the other's responses. */
async function tryAttack(setup: AttackSetup, { name, perSecond, write }: Attack): Promise<void> {
  const { context, regularClient, attackClient, gateway } = setup;
  const codes = new Map<string, number>();
  const regularLoad = startLoad({ perSecond: regularPerSecond, send: () => sendRegular(regularClient) });
  const attack = startLoad({
    perSecond,
    async send(count) {
      const code = await readCode(attackClient, write(count));
      codes.set(code, (codes.get(code) ?? 0) + 1);
      return undefined;
    },
  });
  await sleep(rampMs);
  regularLoad.reset();
  await gateway.measureLoop();
  await sleep(context.options.seconds * 1_000);
  const [report] = await Promise.all([regularLoad.stop(), attack.stop()]);
  context.report(describeRegular(name, report));
  context.note(`codes of the attack's responses (${perSecond} requests per second): ${describeFailures(codes)}`);
  const { cpuMaxMs, maxMs } = await gateway.measureLoop();
  context.note(`longest event loop delay ${maxMs.toFixed(0)} ms, longest computation ${cpuMaxMs.toFixed(0)} ms`);
}

function describeRegular(name: string, report: LoadReport): Finding {
  const { count, latenciesMs, failures } = report;
  return {
    claim: `another client waits at most ${regularMsMax} ms during ${name}`,
    passed: count > 0 && failures.size === 0 && (latenciesMs.at(-1) ?? 0) <= regularMsMax,
    measured: describeLoad(report),
  };
}

async function sendRegular(client: GraphqlClient): Promise<string | undefined> {
  const { status, text } = await client.send("{ books { title stars author { name } } }");
  const isWhole = status === 200 && !text.includes('"errors"') && text.includes("Engines II");
  return isWhole ? undefined : `${status} ${text}`;
}

/** The code of the first error; "data" without errors; the error's text without a response. */
async function readCode(client: GraphqlClient, text: string): Promise<string> {
  try {
    const { status, text: body } = await client.send(text);
    const { errors } = JSON.parse(body) as { errors?: readonly { extensions?: { code?: string } }[] };
    return errors ? (errors[0]?.extensions?.code ?? `status ${status}`) : "data";
  } catch (error) {
    return String(error).startsWith("Error") ? String(error) : `Error: ${String(error)}`;
  }
}

function countFetches({ all }: Library): number {
  return all.reduce((sum, { requests }) => sum + requests.length, 0);
}
