// The check `replicas` of resilience: kills and restarts replicas of one subgraph under load.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { composeSupergraph, startSubgraph } from "../../../../gateway/test/helpers/subgraphs.ts";
import { describeFailures, describeLoad, startLoad } from "../../traffic/open-loop.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { withTimeout } from "./tested-gateway.ts";
import type { GraphqlClient } from "./graphql-client.ts";

const readsPerSecond = 100;
const mutationsPerSecond = 30;
const kills = 6;
/** The times between a kill and the restart, and between the restart and the next kill: enough to eject and to re-admit the replica. */
const downMs = 2_000;
const upMs = 4_000;
const startTimeoutMs = 20_000;

/** The schema of the ledger subgraph, which each replica serves. */
const ledgerDefs = `
  type Query { entry(id: ID!): Entry }
  type Mutation { add(id: ID!): Entry }
  type Entry @key(fields: "id") { id: ID! amount: Int }
`;

/** Another subgraph, which contains only the keys of entries. */
const shelfDefs = `
  type Query { shelf(id: ID!): Shelf }
  type Shelf { entry: Entry }
  type Entry @key(fields: "id", resolvable: false) { id: ID! }
`;

export const replicasCheck: ResilienceCheck = {
  name: "replicas",
  purpose: "when one of two replicas is killed under load no read fails, and no mutation is sent twice",
  apolloFails: true,
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), "tributary-ledger-"));
    context.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
    const ledgerFile = join(folder, "ledger.txt");
    writeFileSync(ledgerFile, "");
    const replicas = await Promise.all([startReplica(ledgerFile), startReplica(ledgerFile)]);
    for (const replica of replicas) context.onCleanup(() => replica.kill());
    const { send } = await startClient(context, replicas);
    const readLoad = startLoad({ perSecond: readsPerSecond, send: (number) => sendRead(send, number) });
    const confirmedIds = new Set<string>();
    const mutationLoad = startLoad({
      perSecond: mutationsPerSecond,
      send: (number) => sendMutation(send, number, confirmedIds),
    });
    await sleep(upMs);
    for (let i = 0; i < kills; i++) {
      const replica = replicas[i % replicas.length];
      await replica?.kill();
      await sleep(downMs);
      await replica?.restart();
      await sleep(upMs);
    }
    const [reads, mutations] = await Promise.all([readLoad.stop(), mutationLoad.stop()]);
    const noReadFails = reads.count > 0 && reads.failures.size === 0;
    context.claim(`no read fails through ${kills} kills`, noReadFails, describeLoad(reads));
    const receivedIds = readFileSync(ledgerFile, "utf8").split("\n").filter(Boolean);
    const distinctIds = new Set(receivedIds);
    const repeatedCount = receivedIds.length - distinctIds.size;
    context.claim("no mutation is sent twice", receivedIds.length > 0 && repeatedCount === 0, `${repeatedCount} are`);
    const lostCount = [...confirmedIds].filter((id) => !distinctIds.has(id)).length;
    // A mutation that was in flight at a kill may fail: the gateway cannot know whether it was executed.
    context.claim(
      "every confirmed mutation was received",
      confirmedIds.size > 0 && lostCount === 0,
      `${lostCount} of ${confirmedIds.size} confirmed ones were not; failures: ${describeFailures(mutations.failures)}`,
    );
  },
};

interface LedgerReplica {
  readonly url: string;
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the replica again on the same port. */
  restart(): Promise<void>;
}

async function startReplica(ledgerFile: string): Promise<LedgerReplica> {
  const port = await pickFreePort();
  let child = await spawnReplica(port, ledgerFile);
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    async restart() {
      child = await spawnReplica(port, ledgerFile);
    },
  };
}

async function spawnReplica(port: number, ledgerFile: string): Promise<ChildProcess> {
  const main = fileURLToPath(new URL("replica-process.ts", import.meta.url));
  const env = { PORT: String(port), LEDGER_FILE: ledgerFile, TYPE_DEFS: ledgerDefs };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "inherit", "ipc"] });
  await withTimeout(startTimeoutMs, once(child.stdout ?? child, "data"), new Error("A replica does not start"));
  return child;
}

/** Starts a gateway with both replicas as addresses of one subgraph. Apollo Gateway uses only the address in the supergraph. */
async function startClient(context: CheckContext, replicas: readonly LedgerReplica[]) {
  const shelf = await startSubgraph({
    name: "shelf",
    typeDefs: shelfDefs,
    resolvers: { Query: { shelf: (_: unknown, { id }: { id: string }) => ({ entry: { id } }) } },
  });
  context.onCleanup(() => shelf.close());
  const urls = replicas.map(({ url }) => url);
  // The text before `type Query` is the federation header that `startSubgraph` has added.
  const [header = ""] = shelf.typeDefs.split("type Query");
  const ledger = { name: "ledger", typeDefs: `${header}${ledgerDefs}`, url: urls[0] ?? "" };
  const gateway = await context.startGateway(composeSupergraph([shelf, ledger]), {
    SUBGRAPH_URL_LEDGER: urls.join(","),
  });
  return context.createClient(gateway);
}

/**
 * Alternates between a root fetch and an entity fetch. All requests are different, so that no two requests share a fetch.
 * @returns the response if it is wrong.
 */
async function sendRead(send: GraphqlClient["send"], requestNumber: number): Promise<string | undefined> {
  const id = String(requestNumber);
  const entry = { id, amount: requestNumber };
  const isRootFetch = requestNumber % 2 === 0;
  const query = isRootFetch
    ? "query ($id: ID!) { entry(id: $id) { id amount } }"
    : "query ($id: ID!) { shelf(id: $id) { entry { id amount } } }";
  const data = isRootFetch ? { entry } : { shelf: { entry } };
  const { text } = await send(query, { variables: { id } });
  return text.trim() === JSON.stringify({ data }) ? undefined : text;
}

/** Adds the id to `confirmedIds` if the response confirms it. @returns the response if it does not. */
async function sendMutation(
  send: GraphqlClient["send"],
  requestNumber: number,
  confirmedIds: Set<string>,
): Promise<string | undefined> {
  const id = String(requestNumber);
  const { text } = await send("mutation ($id: ID!) { add(id: $id) { id } }", { variables: { id } });
  const isConfirmed = text.trim() === JSON.stringify({ data: { add: { id } } });
  if (!isConfirmed) return text;
  confirmedIds.add(id);
  return undefined;
}
