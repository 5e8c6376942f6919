import { once } from "node:events";
import { setPriority } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { startLibrary } from "../../gateway/test/helpers/library.ts";
import { describeFailures, describeLoad, startLoad } from "../processes/open-loop.ts";
import type { Check, Scene } from "./check.ts";
import { type Client, createClient } from "./requests.ts";
import { composeWide } from "./supergraphs.ts";

const clients = 10;
const heapMb = 512;
const rssMbMax = 512;
const innocentPerSecond = 20;
const innocentMsMax = 100;
const sampleMs = 200;
const innocentQuery = "{ books { title stars author { name } } }";

/** From a response of some 30 KB, written on the main thread, to one far beyond the limit. */
const aliasCounts = [1, 2, 5, 20, 180];

export const introspectionCheck: Check = {
  name: "introspection",
  claim: "introspection documents, each a new one, neither end the gateway nor hold up another client",
  stockFails: true,
  async run(scene) {
    const library = await startLibrary();
    scene.onEnd(() => library.close());
    const environment = {
      NODE_OPTIONS: `--max-old-space-size=${heapMb}`,
      INTROSPECTION: "true",
      PROFILE: "production",
    };
    const gateway = await scene.startGateway(composeWide(library.all), environment);
    const forgetting = setInterval(() => library.all.forEach(({ requests }) => requests.splice(0)), 1_000);
    scene.onEnd(() => clearInterval(forgetting));
    const innocent = createClient(gateway.url);
    scene.onEnd(() => innocent.close());
    let rssMb = 0;
    const sampling = setInterval(() => (rssMb = Math.max(rssMb, gateway.readRssBytes() / 1e6)), sampleMs);
    scene.onEnd(() => clearInterval(sampling));
    // Planned before the attack begins.
    await askInnocently(innocent);
    await gateway.askLoop();

    const load = startLoad({ perSecond: innocentPerSecond, send: () => askInnocently(innocent) });
    const codes = await attack(scene, gateway.url);
    const report = await load.stop();
    scene.note(`${scene.options.documents} documents were answered ${describeFailures(codes)}`);
    const { ownMaxMs, maxMs } = await gateway.askLoop();
    scene.note(
      `longest turn of the event loop: ${ownMaxMs.toFixed(0)} ms of its own, ${maxMs.toFixed(0)} ms by the clock`,
    );
    const { heapBytes } = await gateway.askMemory();
    scene.note(`heap of the main thread after a collection: ${(heapBytes / 1e6).toFixed(0)} MB`);
    scene.find({
      claim: `another client waits ${innocentMsMax} ms at the longest`,
      holds: report.count > 0 && report.failures.size === 0 && (report.latenciesMs.at(-1) ?? 0) <= innocentMsMax,
      measured: describeLoad(report),
    });
    scene.find({
      claim: `RSS stays below ${rssMbMax} MB`,
      holds: rssMb < rssMbMax,
      measured: `highest ${rssMb.toFixed(0)} MB`,
    });
  },
};

async function askInnocently(client: Client): Promise<string | undefined> {
  const { status, text } = await client.ask(innocentQuery);
  return status === 200 && text.includes("Engines II") ? undefined : `${status} ${text}`;
}

/** In a thread of lower priority, so that reading long responses does not delay the other client. @returns how often each code came. */
async function attack(scene: Scene, url: string): Promise<ReadonlyMap<string, number>> {
  const workerData: AttackData = { url, documents: scene.options.documents };
  const worker = new Worker(new URL(import.meta.url), { workerData });
  scene.onEnd(() => worker.terminate());
  const [codes] = (await once(worker, "message")) as [ReadonlyMap<string, number>];
  return codes;
}

interface AttackData {
  readonly url: string;
  readonly documents: number;
}

/** Ten clients in a closed loop. */
async function runAttack({ url, documents }: AttackData): Promise<ReadonlyMap<string, number>> {
  const codes = new Map<string, number>();
  let sent = 0;

  async function runClient(): Promise<void> {
    const client = createClient(url);
    while (sent < documents) {
      const code = await readCode(client, writeDocument(sent++));
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    client.close();
  }

  await Promise.all(Array.from({ length: clients }, runClient));
  return codes;
}

if (!isMainThread) {
  setPriority(0, 10);
  const codes = await runAttack(workerData as AttackData);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(codes);
}

function writeDocument(count: number): string {
  const aliases = aliasCounts[count % aliasCounts.length] ?? 1;
  const fields = "types { name fields { name args { name } type { name } } }";
  return `{ __schema { ${Array.from({ length: aliases }, (_, i) => `a${count}_${i}: ${fields}`).join(" ")} } }`;
}

/** The responses are too long to be parsed here: an error without data is short. */
async function readCode(client: Client, query: string): Promise<string> {
  const { text } = await client.ask(query);
  if (text.startsWith('{"data":{')) return "data";
  const { errors } = JSON.parse(text) as { errors?: readonly { extensions?: { code?: string } }[] };
  return errors?.[0]?.extensions?.code ?? "no code";
}
