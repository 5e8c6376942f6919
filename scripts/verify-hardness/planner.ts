import { setTimeout as sleep } from "node:timers/promises";
import { startLibrary } from "../../gateway/test/helpers/library.ts";
import { startMaze, writeHeavyOperation } from "../../gateway/test/helpers/maze.ts";
import { composeSupergraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { ResilienceCheck, CheckContext } from "./check.ts";
import type { MonitoredGateway } from "./platform/gateway-process.ts";
import { describeLoad, startLoad } from "../processes/open-loop.ts";
import { type GraphqlClient, createGraphqlClient } from "./graphql-client.ts";

const rounds = 10;
const perSecond = 20;
/** Too short for the expensive operations, long enough for the others. A new thread has twice this time to start. */
const planTimeoutMs = 1_000;
const heavyDepth = 2;
const heavyAliases = 45;
const plannedMsMax = 100;
const repeatedMsMax = 50;
/** Includes the start of a new thread, which loads the supergraph before it plans. */
const newOperationMsMax = 5_000;

/** The outcome of one operation that exceeds the planning timeout. */
interface Round {
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
    const client = createGraphqlClient(gateway.url);
    context.onCleanup(() => client.close());
    const plannedLoad = startLoad({ perSecond, send: () => sendPlanned(client) });
    await sleep(1_000);
    plannedLoad.reset();
    const finished: Round[] = [];
    for (let i = 0; i < rounds; i++) finished.push(await exhaustPlanner(client, i));
    const report = await plannedLoad.stop();
    const slowestMs = report.latenciesMs.at(-1) ?? Infinity;
    context.report({
      claim: `operations with a cached plan take at most ${plannedMsMax} ms`,
      passed: report.failures.size === 0 && slowestMs <= plannedMsMax,
      measured: describeLoad(report),
    });
    reportRounds(context, finished, gateway);
  },
};

function sendPlanned(client: GraphqlClient): Promise<string | undefined> {
  return sendAndCheck(client, "{ books { title stars author { name } } }");
}

async function sendAndCheck(client: GraphqlClient, query: string): Promise<string | undefined> {
  const { text } = await client.send(query);
  return !text.includes('"errors"') && text.includes("Engines II") ? undefined : text;
}

async function exhaustPlanner(client: GraphqlClient, round: number): Promise<Round> {
  const aliases = Array.from({ length: heavyAliases }, (_, i) =>
    writeHeavyOperation(round * heavyAliases + i, heavyDepth),
  );
  const heavy = `{ ${aliases.map((text) => text.slice(1, -1)).join(" ")} }`;
  const heavyCode = await readCode(client, heavy);
  const repeatedStartMs = performance.now();
  await readCode(client, heavy);
  const newOperationStartMs = performance.now();
  const problem = await sendAndCheck(client, `{ books { new${round}: title } }`).catch(String);
  return {
    heavyCode,
    repeatedMs: newOperationStartMs - repeatedStartMs,
    newOperationMs: performance.now() - newOperationStartMs,
    newOperationSucceeds: problem === undefined,
  };
}

async function readCode(client: GraphqlClient, query: string): Promise<string> {
  try {
    const { errors } = JSON.parse((await client.send(query)).text) as { errors?: { extensions?: { code?: string } }[] };
    return errors?.[0]?.extensions?.code ?? "data";
  } catch (error) {
    return String(error);
  }
}

function reportRounds(context: CheckContext, finished: readonly Round[], gateway: MonitoredGateway): void {
  const codes = [...new Set(finished.map(({ heavyCode }) => heavyCode))].join(", ");
  const [repeatedMs, newOperationMs] = [
    Math.max(...finished.map((round) => round.repeatedMs)),
    Math.max(...finished.map((round) => round.newOperationMs)),
  ];
  const replaced = gateway.countLogged("planner-replaced");
  context.report({
    claim: "the operation is rejected, and its thread ended and replaced",
    passed: codes === "OPERATION_TOO_COMPLEX" && replaced >= finished.length,
    measured: `${finished.length} requests: ${codes}; ${replaced} threads replaced`,
  });
  context.report({
    claim: `the same operation is rejected within ${repeatedMsMax} ms from then on`,
    passed: repeatedMs <= repeatedMsMax,
    measured: `longest ${repeatedMs.toFixed(1)} ms`,
  });
  context.report({
    claim: `the next new operation is planned within ${newOperationMsMax} ms, including the start of the new thread`,
    passed: finished.every(({ newOperationSucceeds }) => newOperationSucceeds) && newOperationMs <= newOperationMsMax,
    measured: `${finished.filter(({ newOperationSucceeds }) => newOperationSucceeds).length} of ${finished.length}, longest ${newOperationMs.toFixed(0)} ms`,
  });
}
