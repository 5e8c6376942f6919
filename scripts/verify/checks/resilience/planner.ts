// The check `planner` of resilience: a client sends operations that take too long to plan, while another client sends an operation whose plan is
// cached.
import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { startMaze } from "../../../../gateway/test/helpers/maze.ts";
import { composeSupergraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import { describeLoad, startLoad } from "../../traffic/open-loop.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import type { TestedGateway } from "./tested-gateway.ts";
import { type GraphqlClient, sendForCode } from "./graphql-client.ts";
import { sendRegular } from "./library.ts";

const rounds = 10;
const perSecond = 20;
const warmUpMs = 1_000;
/** Too short for the expensive operations, long enough for the others. A new thread has twice this time to start. */
const planTimeoutMs = 1_000;
const heavyAliases = 40;
const plannedMsMax = 100;
const repeatedMsMax = 50;
/** Includes the start of a new thread, which loads the supergraph before it plans. */
const newOperationMsMax = 5_000;

/** The outcome of one operation that exceeds the planning timeout, of its repetition, and of the new operation after it. */
interface Round {
  /** The code of the first response. */
  readonly heavyCode: string;
  readonly repeatedMs: number;
  readonly newOperationMs: number;
  readonly newOperationSucceeds: boolean;
}

export const plannerCheck: ResilienceCheck = {
  name: "planner",
  purpose: "an operation that takes too long to plan ends its planner thread, and affects no other client",
  // Apollo Gateway plans in the main thread: nothing ends the planning, and all clients wait.
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    const subgraphs = [...library.all, ...(await startMaze())];
    context.onCleanup(() => Promise.all(subgraphs.map((subgraph) => subgraph.close())));
    const gateway = await context.startGateway(composeSupergraph(subgraphs), {
      PLAN_TIMEOUT_MS: String(planTimeoutMs),
    });
    const client = context.createClient(gateway);
    const plannedLoad = startLoad({ perSecond, send: () => sendRegular(client) });
    await sleep(warmUpMs);
    // Discards the measurements of the warm-up.
    plannedLoad.reset();
    await gateway.measureLoop();
    const finished: Round[] = [];
    for (let i = 0; i < rounds; i++) finished.push(await exhaustPlanner(client, i));
    const report = await plannedLoad.stop();
    const slowestMs = report.latenciesMs.at(-1) ?? Infinity;
    context.claim(
      `operations with a cached plan take at most ${plannedMsMax} ms`,
      report.failures.size === 0 && slowestMs <= plannedMsMax,
      describeLoad(report),
    );
    reportRounds(context, finished, gateway);
    const { cpuMaxMs, maxMs } = await gateway.measureLoop();
    context.print(`longest event loop delay ${maxMs.toFixed(0)} ms, longest computation ${cpuMaxMs.toFixed(0)} ms`);
  },
};

/** Sends an operation that exceeds the planning timeout, the same operation again, and another new operation, one after the other. */
async function exhaustPlanner(client: GraphqlClient, roundNumber: number): Promise<Round> {
  const heavyOperation = writeHeavyMazeOperation(roundNumber);
  const heavyCode = await sendForCode(client, heavyOperation);
  const repeatedStartMs = performance.now();
  await sendForCode(client, heavyOperation);
  const newOperationStartMs = performance.now();
  const problem = await sendRegular(client, `{ books { new${roundNumber}: title } }`).catch(String);
  return {
    heavyCode,
    repeatedMs: newOperationStartMs - repeatedStartMs,
    newOperationMs: performance.now() - newOperationStartMs,
    newOperationSucceeds: problem === undefined,
  };
}

/** An operation within all size limits that takes 2 to 4 s to plan. One more level exceeds a limit of the planner, which rejects it earlier. */
function writeHeavyMazeOperation(roundNumber: number): string {
  const fields = "north east south west";
  const branches = ["a", "b", "c", "d"].map((alias) => `${alias}: next { ${fields} }`).join(" ");
  const room = `${fields} next { ${fields} ${branches} }`;
  const mazes = Array.from({ length: heavyAliases }, (_, i) => `m${roundNumber}_${i}: maze { ${room} }`);
  return `{ ${mazes.join(" ")} }`;
}

function reportRounds(context: CheckContext, finished: readonly Round[], gateway: TestedGateway): void {
  const codes = [...new Set(finished.map(({ heavyCode }) => heavyCode))].join(", ");
  const longestRepeatedMs = Math.max(...finished.map(({ repeatedMs }) => repeatedMs));
  const longestNewMs = Math.max(...finished.map(({ newOperationMs }) => newOperationMs));
  const succeededCount = finished.filter(({ newOperationSucceeds }) => newOperationSucceeds).length;
  const replacedCount = gateway.countLogged("planner-replaced");
  context.claim(
    "the operation is rejected, and its thread ended and replaced",
    codes === "OPERATION_TOO_COMPLEX" && replacedCount >= finished.length,
    `${finished.length} requests: ${codes}; ${replacedCount} threads replaced`,
  );
  context.claim(
    `the same operation is rejected within ${repeatedMsMax} ms from then on`,
    longestRepeatedMs <= repeatedMsMax,
    `longest ${longestRepeatedMs.toFixed(1)} ms`,
  );
  context.claim(
    `the next new operation is planned within ${newOperationMsMax} ms, including the start of the new thread`,
    succeededCount === finished.length && longestNewMs <= newOperationMsMax,
    `${succeededCount} of ${finished.length}, longest ${longestNewMs.toFixed(0)} ms`,
  );
}
