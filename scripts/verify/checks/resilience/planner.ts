// The check `planner` of resilience: a client sends operations that take too long to plan, while another client sends an operation whose plan is
// cached.
import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { startMaze } from "../../../../gateway/test/helpers/maze.ts";
import { composeSupergraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import { describeLoad, startLoad } from "../../traffic/open-loop.ts";
import type { ResilienceCheck } from "./check.ts";
import { sendForCode } from "./graphql-client.ts";
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
    plannedLoad.reset();

    const codes = new Set<string>();
    const failures: string[] = [];
    const longest = { repeatedMs: 0, newOperationMs: 0 };
    for (let round = 0; round < rounds; round++) {
      const heavyOperation = writeHeavyMazeOperation(round);
      codes.add(await sendForCode(client, heavyOperation));
      longest.repeatedMs = Math.max(longest.repeatedMs, await measureMs(() => sendForCode(client, heavyOperation)));
      const newOperationMs = await measureMs(async () => {
        const problem = await sendRegular(client, `{ books { new${round}: title } }`).catch(String);
        if (problem !== undefined) failures.push(problem);
      });
      longest.newOperationMs = Math.max(longest.newOperationMs, newOperationMs);
    }
    const report = await plannedLoad.stop();
    context.claim(
      `operations with a cached plan take at most ${plannedMsMax} ms`,
      report.failures.size === 0 && (report.latenciesMs.at(-1) ?? Infinity) <= plannedMsMax,
      describeLoad(report),
    );
    const replacedCount = gateway.countLogged("planner-replaced");
    context.claim(
      "the operation is rejected, and its thread ended and replaced",
      [...codes].join() === "OPERATION_TOO_COMPLEX" && replacedCount >= rounds,
      `${rounds} requests: ${[...codes].join(", ")}; ${replacedCount} threads replaced`,
    );
    context.claim(
      `the same operation is rejected within ${repeatedMsMax} ms from then on`,
      longest.repeatedMs <= repeatedMsMax,
      `longest ${longest.repeatedMs.toFixed(1)} ms`,
    );
    context.claim(
      `the next new operation is planned within ${newOperationMsMax} ms, including the start of the new thread`,
      failures.length === 0 && longest.newOperationMs <= newOperationMsMax,
      `longest ${longest.newOperationMs.toFixed(0)} ms ${failures.join("; ")}`,
    );
  },
};

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** An operation within all size limits that takes 2 to 4 s to plan. One more level exceeds a limit of the planner, which rejects it earlier. */
function writeHeavyMazeOperation(roundNumber: number): string {
  const fields = "north east south west";
  const branches = ["a", "b", "c", "d"].map((alias) => `${alias}: next { ${fields} }`).join(" ");
  const room = `${fields} next { ${fields} ${branches} }`;
  const mazes = Array.from({ length: heavyAliases }, (_, i) => `m${roundNumber}_${i}: maze { ${room} }`);
  return `{ ${mazes.join(" ")} }`;
}
