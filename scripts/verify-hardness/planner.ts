import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../gateway/test/helpers/library.ts";
import { startMaze, writeHeavyOperation } from "../../gateway/test/helpers/maze.ts";
import { composeSupergraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { Check, Scene } from "./check.ts";
import type { GatewayProcess } from "./gateway-process.ts";
import { describeLoad, startLoad } from "../processes/open-loop.ts";
import { type Client, createClient } from "./requests.ts";

const rounds = 10;
const perSecond = 20;
/** Too short for one of these operations, long enough for any other of this check; and twice this for a new thread to start. */
const planTimeoutMs = 1_000;
const heavyDepth = 2;
const heavyAliases = 45;
const knownMsMax = 100;
const againMsMax = 50;
/** A new thread loads the supergraph before it plans. */
const newMsMax = 5_000;

/** What one lost thread cost. */
interface Round {
  readonly heavyCode: string;
  readonly againMs: number;
  readonly newcomerMs: number;
  readonly newcomerIsWhole: boolean;
}

export const plannerCheck: Check = {
  name: "planner",
  claim: "an operation that takes too long to plan costs its planner's thread, and nobody else anything",
  // Its planner is the process: nothing ends it, and everybody waits.
  stockFails: true,
  async run(scene) {
    const library = await startLibrary();
    const subgraphs = [...library.all, ...(await startMaze())];
    scene.onEnd(() => Promise.all(subgraphs.map((subgraph) => subgraph.close())));
    const gateway = await scene.startGateway(composeSupergraph(subgraphs), { PLAN_TIMEOUT_MS: String(planTimeoutMs) });
    const client = createClient(gateway.url);
    scene.onEnd(() => client.close());
    const known = startLoad({ perSecond, send: () => askKnown(client) });
    await sleep(1_000);
    known.reset();
    const done: Round[] = [];
    for (let i = 0; i < rounds; i++) done.push(await loseThread(client, i));
    const report = await known.stop();
    const slowestMs = report.latenciesMs.at(-1) ?? Infinity;
    scene.find({
      claim: `operations that are planned already are answered in ${knownMsMax} ms`,
      holds: report.failures.size === 0 && slowestMs <= knownMsMax,
      measured: describeLoad(report),
    });
    reportRounds(scene, done, gateway);
  },
};

function askKnown(client: Client): Promise<string | undefined> {
  return askWhole(client, "{ books { title stars author { name } } }");
}

async function askWhole(client: Client, query: string): Promise<string | undefined> {
  const { text } = await client.ask(query);
  return !text.includes('"errors"') && text.includes("Engines II") ? undefined : text;
}

async function loseThread(client: Client, round: number): Promise<Round> {
  const aliases = Array.from({ length: heavyAliases }, (_, i) =>
    writeHeavyOperation(round * heavyAliases + i, heavyDepth),
  );
  const heavy = `{ ${aliases.map((text) => text.slice(1, -1)).join(" ")} }`;
  const heavyCode = await readCode(client, heavy);
  const beforeAgain = performance.now();
  await readCode(client, heavy);
  const beforeNewcomer = performance.now();
  const wrong = await askWhole(client, `{ books { new${round}: title } }`).catch(String);
  return {
    heavyCode,
    againMs: beforeNewcomer - beforeAgain,
    newcomerMs: performance.now() - beforeNewcomer,
    newcomerIsWhole: wrong === undefined,
  };
}

async function readCode(client: Client, query: string): Promise<string> {
  try {
    const { errors } = JSON.parse((await client.ask(query)).text) as { errors?: { extensions?: { code?: string } }[] };
    return errors?.[0]?.extensions?.code ?? "data";
  } catch (error) {
    return String(error);
  }
}

function reportRounds(scene: Scene, done: readonly Round[], gateway: GatewayProcess): void {
  const codes = [...new Set(done.map(({ heavyCode }) => heavyCode))].join(", ");
  const [againMs, newcomerMs] = [
    Math.max(...done.map((round) => round.againMs)),
    Math.max(...done.map((round) => round.newcomerMs)),
  ];
  const lost = gateway.logged("planner-replaced");
  scene.find({
    claim: "it is refused, and its thread ended and replaced",
    holds: codes === "OPERATION_TOO_COMPLEX" && lost >= done.length,
    measured: `${done.length} asked: ${codes}; ${lost} threads replaced`,
  });
  scene.find({
    claim: `the same operation is refused in ${againMsMax} ms from then on`,
    holds: againMs <= againMsMax,
    measured: `longest ${againMs.toFixed(1)} ms`,
  });
  scene.find({
    claim: `the next new operation is planned, in ${newMsMax} ms with the new thread's start`,
    holds: done.every(({ newcomerIsWhole }) => newcomerIsWhole) && newcomerMs <= newMsMax,
    measured: `${done.filter(({ newcomerIsWhole }) => newcomerIsWhole).length} of ${done.length}, longest ${newcomerMs.toFixed(0)} ms`,
  });
}
