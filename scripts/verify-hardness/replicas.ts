import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { composeSupergraph, startSubgraph } from "../../gateway/test/helpers/subgraphs.ts";
import type { Check, Scene } from "./check.ts";
import { within } from "./gateway-process.ts";
import { ledgerDefs, shelfDefs } from "./ledger.ts";
import { describeFailures, describeLoad, type LoadReport, startLoad } from "../processes/open-loop.ts";
import { type Client, createClient } from "./requests.ts";

const readsPerSecond = 100;
const mutationsPerSecond = 30;
const kills = 6;
/** Between a kill and the start of its successor, and between that and the next kill: a gateway finds out, and comes back to it. */
const deadMs = 2_000;
const aliveMs = 4_000;
const startTimeoutMs = 20_000;

export const replicasCheck: Check = {
  name: "replicas",
  claim: "when one of two replicas is killed under load no read fails, and no mutation is sent twice",
  stockFails: true,
  async run(scene) {
    const folder = mkdtempSync(join(tmpdir(), "tributary-ledger-"));
    scene.onEnd(() => rmSync(folder, { recursive: true, force: true }));
    const ledgerFile = join(folder, "ledger.txt");
    writeFileSync(ledgerFile, "");
    const replicas = await Promise.all([startReplica(ledgerFile), startReplica(ledgerFile)]);
    for (const replica of replicas) scene.onEnd(() => replica.kill());
    const client = await startClient(scene, replicas);
    const reads = startLoad({ perSecond: readsPerSecond, send: (count) => read(client.ask, count) });
    const confirmed = new Set<string>();
    const mutations = startLoad({ perSecond: mutationsPerSecond, send: (count) => add(client.ask, count, confirmed) });
    await killInTurn(replicas);
    const [ofReads, ofMutations] = await Promise.all([reads.stop(), mutations.stop()]);
    reportReads(scene, ofReads);
    reportMutations(scene, ofMutations, confirmed, readFileSync(ledgerFile, "utf8").split("\n").filter(Boolean));
    scene.note(`${client.countRetries()} fetches were sent once more by the gateway`);
  },
};

interface Replica {
  readonly url: string;
  /** kill -9. */
  kill(): Promise<void>;
  /** The same again, on the same port. */
  restart(): Promise<void>;
}

async function startReplica(ledgerFile: string): Promise<Replica> {
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
  const main = fileURLToPath(new URL("replica.ts", import.meta.url));
  const env = { PATH: process.env["PATH"] ?? "", PORT: String(port), LEDGER_FILE: ledgerFile };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "inherit", "ipc"] });
  await within(startTimeoutMs, once(child.stdout ?? child, "data"), () => "A replica does not start");
  return child;
}

/** A gateway over both replicas; stock knows one address for a subgraph. */
async function startClient(scene: Scene, replicas: readonly Replica[]) {
  const shelf = await startSubgraph({
    name: "shelf",
    typeDefs: shelfDefs,
    resolvers: { Query: { shelf: (_: unknown, { id }: { id: string }) => ({ entry: { id } }) } },
  });
  scene.onEnd(() => shelf.close());
  const urls = replicas.map(({ url }) => url);
  const ledger = {
    name: "ledger",
    typeDefs: `${shelf.typeDefs.split("type Query")[0]}${ledgerDefs}`,
    url: urls[0] ?? "",
  };
  const gateway = await scene.startGateway(composeSupergraph([shelf, ledger]), {
    SUBGRAPH_URL_LEDGER: urls.join(","),
    LOG_LEVEL: "debug",
  });
  const client = createClient(gateway.url);
  scene.onEnd(() => client.close());
  return { ask: client.ask, countRetries: () => gateway.logged("retried") };
}

/** By turns a root fetch and an entity fetch; each asks for something else, so that none shares another's. */
async function read(ask: Client["ask"], count: number): Promise<string | undefined> {
  const entry = { id: String(count), amount: count };
  const [query, data] =
    count % 2 === 0
      ? ["query ($id: ID!) { entry(id: $id) { id amount } }", { entry }]
      : ["query ($id: ID!) { shelf(id: $id) { entry { id amount } } }", { shelf: { entry } }];
  const { text } = await ask(query, { variables: { id: String(count) } });
  return text.trim() === JSON.stringify({ data }) ? undefined : text;
}

async function add(ask: Client["ask"], count: number, confirmed: Set<string>): Promise<string | undefined> {
  const id = String(count);
  const { text } = await ask("mutation ($id: ID!) { add(id: $id) { id } }", { variables: { id } });
  if (text.trim() !== JSON.stringify({ data: { add: { id } } })) return text;
  confirmed.add(id);
  return undefined;
}

async function killInTurn(replicas: readonly Replica[]): Promise<void> {
  await sleep(aliveMs);
  for (let i = 0; i < kills; i++) {
    const replica = replicas[i % replicas.length];
    await replica?.kill();
    await sleep(deadMs);
    await replica?.restart();
    await sleep(aliveMs);
  }
}

function reportReads(scene: Scene, report: LoadReport): void {
  scene.find({
    claim: `no read fails through ${kills} kills`,
    holds: report.count > 0 && report.failures.size === 0,
    measured: describeLoad(report),
  });
}

/** A mutation that was under way at a kill may fail: nobody knows whether it was done. */
function reportMutations(
  scene: Scene,
  { count, failures }: LoadReport,
  confirmed: ReadonlySet<string>,
  written: readonly string[],
): void {
  const once = new Set(written);
  const lost = [...confirmed].filter((id) => !once.has(id)).length;
  scene.find({
    claim: "no mutation is sent twice",
    holds: count > 0 && once.size === written.length,
    measured: `${count} mutations, ${written.length - once.size} came twice`,
  });
  scene.find({
    claim: "what was confirmed came",
    holds: confirmed.size > 0 && lost === 0,
    measured: `${confirmed.size} confirmed, ${lost} never came`,
  });
  scene.note(`${count - confirmed.size} mutations failed: ${describeFailures(failures)}`);
}
