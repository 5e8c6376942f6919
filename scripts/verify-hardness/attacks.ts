import { setTimeout as sleep } from "node:timers/promises";
import { type Library, startLibrary } from "../../gateway/test/helpers/library.ts";
import { composeSupergraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { Check, Finding, Scene } from "./check.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import {
  describeFailures,
  describeLatencies,
  describeLoad,
  type LoadReport,
  startLoad,
} from "../processes/open-loop.ts";
import { startMaze, writeHeavyOperation } from "../../gateway/test/helpers/maze.ts";
import { type Client, createClient } from "./requests.ts";

const refusedMsMax = 50;
const innocentMsMax = 100;
const refusalsEach = 100;
const innocentPerSecond = 20;
const rampMs = 3_000;

/** Attackers and innocents share a gateway, not a connection. */
interface Siege {
  readonly scene: Scene;
  readonly gateway: GatewayProcess;
  readonly innocent: Client;
  readonly attacker: Client;
  readonly library: Library;
}

export const attacksCheck: Check = {
  name: "attacks",
  claim: "what is too much is refused in 50 ms, and whoever asks beside an attack waits no longer than 100 ms",
  stockFails: true,
  async run(scene) {
    const library = await startLibrary();
    const maze = await startMaze();
    const subgraphs = [...library.all, ...maze];
    scene.onEnd(() => Promise.all(subgraphs.map((subgraph) => subgraph.close())));
    const gateway = await scene.startGateway(composeSupergraph(subgraphs));
    const [innocent, attacker] = [createClient(gateway.url), createClient(gateway.url)];
    for (const client of [innocent, attacker]) scene.onEnd(() => client.close());
    const siege: Siege = { scene, gateway, innocent, attacker, library };
    for (const [name, text] of Object.entries(excesses)) scene.find(await tryExcess(siege, name, text));
    for (const attack of attacks) await tryAttack(siege, attack);
  },
};

/** Documents that unfold to more than 2,000 selections; those of a few hundred bytes unfold to billions. */
const excesses: Readonly<Record<string, string>> = {
  "2,001 selections, written out": `{ books { ${"title ".repeat(2_000)} } }`,
  "fragments in fragments, 2^30 selections": writeFragmentBomb(30),
  "two aliases a level, 2^25 selections": writeAliasBomb(25),
  "inline fragments around a fragment, 60,000 selections": writeInlineBomb(),
};

/** What is sent over and over while innocents ask. `count` makes each document one that nobody has seen. */
const attacks: readonly Attack[] = [
  { name: "fragment bombs", perSecond: 50, write: (count) => `${writeFragmentBomb(30)} #${count}` },
  // Grace has written one book: so that who answers this answers one thing at each level.
  {
    name: "deep documents",
    perSecond: 50,
    write: (count) => `{ a${count}: person(id: 2) { ${"books { author { ".repeat(30)} name ${"} }".repeat(30)} } }`,
  },
  { name: "braces without end", perSecond: 50, write: (count) => `{ a${count}: people ${"{ books ".repeat(4_900)}` },
  {
    name: "big lists",
    perSecond: 50,
    write: (count) => `{ a${count}: person(id: [${"[1] ".repeat(2_000)}]) { name } }`,
  },
  {
    name: "fields that overlap",
    perSecond: 5,
    write: (count) => `{ a${count}: books { ${"author { books { title } } ".repeat(600)} } }`,
  },
  { name: "operations that take long to plan", perSecond: 4, write: (count) => writeHeavyOperation(count, 2) },
  { name: "operations that nobody can plan", perSecond: 1, write: (count) => writeHeavyOperation(count, 4) },
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

/** Two aliased paths to the same fragment a level: what stock plans for half a minute. */
function writeAliasBomb(levels: number): string {
  const fragment = (_: unknown, level: number) => {
    const [from, way] = level % 2 === 0 ? ["Person", "books"] : ["Book", "author"];
    return `fragment F${level} on ${from} { a: ${way} { ...F${level + 1} } b: ${way} { ...F${level + 1} } }`;
  };
  const last = levels % 2 === 0 ? "Person { name }" : "Book { title }";
  return `query { people { ...F0 } } ${Array.from({ length: levels }, fragment).join(" ")} fragment F${levels} on ${last}`;
}

function writeInlineBomb(): string {
  return `query { books { ${"... on Book { ...F } ".repeat(300)} } } fragment F on Book { ${"title ".repeat(200)} }`;
}

/** One after the other on an idle gateway: each is refused, soon, and costs no subgraph anything. */
async function tryExcess({ attacker, library }: Siege, name: string, text: string): Promise<Finding> {
  const fetchesBefore = countFetches(library);
  const latenciesMs: number[] = [];
  const others = new Set<string>();
  for (let times = 0; times < refusalsEach; times++) {
    const startMs = performance.now();
    const code = await readCode(attacker, text);
    latenciesMs.push(performance.now() - startMs);
    if (code !== "SELECTION_LIMIT_EXCEEDED") others.add(code);
    // One that hangs hangs a hundred times: once says it.
    if (code.startsWith("Error")) break;
  }
  const fetches = countFetches(library) - fetchesBefore;
  const slowestMs = Math.max(...latenciesMs);
  return {
    claim: `${name} (${text.length.toLocaleString("en")} bytes) is refused in ${refusedMsMax} ms`,
    holds: others.size === 0 && slowestMs <= refusedMsMax && fetches === 0,
    measured: [`${latenciesMs.length} times, ${describeLatencies(latenciesMs)}, ${fetches} fetches`, ...others].join(
      ", ",
    ),
  };
}

/** Attackers and innocents keep their times, whatever becomes of the others. */
async function tryAttack(siege: Siege, { name, perSecond, write }: Attack): Promise<void> {
  const { scene, innocent, attacker, gateway } = siege;
  const codes = new Map<string, number>();
  const innocents = startLoad({ perSecond: innocentPerSecond, send: () => askInnocently(innocent) });
  const attack = startLoad({
    perSecond,
    async send(count) {
      const code = await readCode(attacker, write(count));
      codes.set(code, (codes.get(code) ?? 0) + 1);
      return undefined;
    },
  });
  await sleep(rampMs);
  innocents.reset();
  await gateway.askLoop();
  await sleep(scene.options.seconds * 1_000);
  const [report] = await Promise.all([innocents.stop(), attack.stop()]);
  scene.find(describeInnocents(name, report));
  scene.note(`${perSecond} a second were answered ${describeFailures(codes)}`);
  const { ownMaxMs, maxMs } = await gateway.askLoop();
  scene.note(`the loop stood still ${maxMs.toFixed(0)} ms at the longest, ${ownMaxMs.toFixed(0)} ms of its own making`);
}

function describeInnocents(name: string, report: LoadReport): Finding {
  const { count, latenciesMs, failures } = report;
  return {
    claim: `whoever asks beside ${name} waits ${innocentMsMax} ms at the longest`,
    holds: count > 0 && failures.size === 0 && (latenciesMs.at(-1) ?? 0) <= innocentMsMax,
    measured: describeLoad(report),
  };
}

async function askInnocently(client: Client): Promise<string | undefined> {
  const { status, text } = await client.ask("{ books { title stars author { name } } }");
  const isWhole = status === 200 && !text.includes('"errors"') && text.includes("Engines II");
  return isWhole ? undefined : `${status} ${text}`;
}

/** The code of the first error, "data" without one; an error when no answer came. */
async function readCode(client: Client, text: string): Promise<string> {
  try {
    const { status, text: body } = await client.ask(text);
    const { errors } = JSON.parse(body) as { errors?: readonly { extensions?: { code?: string } }[] };
    return errors ? (errors[0]?.extensions?.code ?? `status ${status}`) : "data";
  } catch (error) {
    return String(error).startsWith("Error") ? String(error) : `Error: ${String(error)}`;
  }
}

function countFetches({ all }: Library): number {
  return all.reduce((sum, { requests }) => sum + requests.length, 0);
}
