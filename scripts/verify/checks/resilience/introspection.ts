// The check `introspection` of resilience: ten clients send introspection documents, each document only once, while another client sends regular
// requests.
import { once } from "node:events";
import { setPriority } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { describeFailures, describeLoad, startLoad } from "../../traffic/open-loop.ts";
import { endpointKeys } from "../../platform/part-process.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { createGraphqlClient, noResponse, sendForCode } from "./graphql-client.ts";
import { composeWide, startDiscardingRequests, sendRegular } from "./library.ts";

const clientCount = 10;
/** V8's heap limit. */
const heapMbMax = 512;
const rssMbMax = 512;
const regularPerSecond = 20;
const regularMsMax = 100;

/**
 * How often a document selects the whole schema; the documents take these numbers in turn. The smallest response has some 30 KB and is written by
 * the gateway's main thread, the largest is far above the gateway's limit.
 */
const aliasCounts = [1, 2, 5, 20, 180];

export const introspectionCheck: ResilienceCheck = {
  name: "introspection",
  purpose: "different introspection documents neither end the gateway nor delay another client",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const environment = {
      NODE_OPTIONS: `--max-old-space-size=${heapMbMax}`,
      INTROSPECTION: "true",
      PROFILE: "production",
      // The production profile requires them.
      ...endpointKeys,
      RATE_LIMIT_READS_PER_MINUTE: "0",
      TRUSTED_PROXIES: "none",
    };
    const gateway = await context.startGateway(composeWide(library), environment);
    startDiscardingRequests(library, context);
    const regularClient = context.createClient(gateway);
    // So that the operation is planned before the attack.
    await sendRegular(regularClient);
    const load = startLoad({ perSecond: regularPerSecond, send: () => sendRegular(regularClient) });
    const documents = context.isQuick ? 500 : 10_000;
    const codes = await attack(context, { url: gateway.url, documents });
    const report = await load.stop();
    context.claim(
      `each of ${documents} documents gets a response`,
      [...codes.keys()].every((code) => !code.startsWith(noResponse)),
      describeFailures(codes),
    );
    context.claim(
      `another client waits at most ${regularMsMax} ms`,
      report.count > 0 && report.failures.size === 0 && (report.latenciesMs.at(-1) ?? Infinity) <= regularMsMax,
      describeLoad(report),
    );
    const rssMb = gateway.readPeakRssBytes() / 1e6;
    context.claim(`RSS stays below ${rssMbMax} MB`, rssMb < rssMbMax, `highest ${rssMb.toFixed(0)} MB`);
  },
};

/** Runs in a thread of lower priority, so that reading long responses does not delay the regular client. @returns the number of responses by code. */
async function attack(context: CheckContext, attackData: AttackData): Promise<ReadonlyMap<string, number>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: attackData });
  context.onCleanup(() => worker.terminate());
  const [codes] = (await once(worker, "message")) as [ReadonlyMap<string, number>];
  return codes;
}

interface AttackData {
  readonly url: string;
  readonly documents: number;
}

/** Ten clients, each of which sends one request after the other (closed loop). */
async function runAttack({ url, documents }: AttackData): Promise<ReadonlyMap<string, number>> {
  const codes = new Map<string, number>();
  let sent = 0;

  async function runClient(): Promise<void> {
    const client = createGraphqlClient(url);
    while (sent < documents) {
      const document = writeDocument(sent);
      sent++;
      const code = await sendForCode(client, document);
      codes.set(code, (codes.get(code) ?? 0) + 1);
      // Without this, each further request could take until its timeout, and the attack for hours.
      if (code.startsWith(noResponse)) break;
    }
    client.close();
  }

  await Promise.all(Array.from({ length: clientCount }, runClient));
  return codes;
}

// This file is also the worker's: `attack` starts it.
if (!isMainThread) {
  // On Linux, 0 is this thread and not the whole process.
  setPriority(0, 10);
  const codes = await runAttack(workerData as AttackData);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(codes);
}

function writeDocument(documentNumber: number): string {
  const aliasCount = aliasCounts[documentNumber % aliasCounts.length] ?? 1;
  const fields = "types { name fields { name args { name } type { name } } }";
  const selections = Array.from({ length: aliasCount }, (_, i) => `a${documentNumber}_${i}: ${fields}`);
  return `{ __schema { ${selections.join(" ")} } }`;
}
