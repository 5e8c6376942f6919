// `npm run measure:capacity`: measures the request rate that one replica of each part sustains, and the CPU time of a request. With --write
// the tables in docs/capacity.md are replaced. For each workload it warms the processes up, then raises the rate until the p99 limit is exceeded.
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatTables, putBetweenMarkers, type WorkloadResult } from "./measure-capacity/capacity-tables.ts";
import { findHighestRate, type RateResult } from "./measure-capacity/ramp.ts";
import {
  type PartName,
  type Platform,
  replicaOf,
  replicasOfEachPart,
  startPlatform,
} from "./verify/platform/platform.ts";
import { createHttpClient, findResponseProblem, type HttpClientRequest } from "./verify/traffic/http-client.ts";
import { percentile, startLoad } from "./verify/traffic/open-loop.ts";
import { limitAt, postAt, skuAt, userAt } from "./verify/traffic/seeded.ts";

const page = fileURLToPath(new URL("../docs/capacity.md", import.meta.url));
const warmUpMs = 1_000;
/** A warm process is several times as fast as a cold one (JIT, caches), so it is first loaded at the maximum rate. */
const firstWarmUpMs = 12_000;
const warmUpClients = 16;

/** A kind of requests. */
interface CapacityWorkload {
  readonly name: string;
  /** The part that receives the requests. */
  readonly part: PartName;
  /** @param count the request's number, counted anew for the warm-up and for each rate. It selects the data, so successive requests differ. */
  createRequest(count: number, token: string): HttpClientRequest;
}

/** Uses all four services, and only fields that every client may read. */
const acrossAll = `query AcrossAll($id: ID!, $sku: ID!) { product(sku: $sku) { title post { title author { name } } }
  user(id: $id) { name posts(first: 2) { title comments(first: 1) { body author { name } } } } }`;
const onePost = "query OnePost($id: ID!) { post(id: $id) { title author { name } } }";

const workloads: readonly CapacityWorkload[] = [
  {
    name: "users",
    part: "users",
    createRequest: (n) => get(mixed(n, `/rest/v1/users/${userAt(n)}`, "/rest/v1/users")),
  },
  {
    name: "posts",
    part: "posts",
    createRequest: (n) => get(mixed(n, `/rest/v1/posts/${postAt(n)}`, "/rest/v1/posts")),
  },
  {
    name: "comments",
    part: "comments",
    createRequest: (n) => get(`/rest/v1/posts/${postAt(n)}/comments?limit=${limitAt(n)}`),
  },
  {
    name: "orders",
    part: "orders",
    createRequest: (n) => get(mixed(n, `/rest/v1/products/${skuAt(n)}`, "/rest/v1/products")),
  },
  { name: "rest-cached", part: "rest-proxy", createRequest: (n) => get(`/v1/posts/${postAt(n % 10)}`) },
  {
    name: "rest-forwarded",
    part: "rest-proxy",
    createRequest: (n, token) => get(mixed(n, `/v1/users/${userAt(n)}`, "/v1/users"), token),
  },
  {
    name: "graphql-small",
    part: "gateway",
    createRequest: (n, token) => graphql(onePost, { id: postAt(n) }, token),
  },
  {
    name: "graphql-across",
    part: "gateway",
    createRequest: (n, token) => graphql(acrossAll, { id: userAt(n), sku: skuAt(n) }, token),
  },
];

function get(path: string, token?: string): HttpClientRequest {
  return { method: "GET", path, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
}

function graphql(query: string, variables: object, token: string): HttpClientRequest {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query, variables }) };
}

/** Every fourth request reads a list, the others a single resource. */
function mixed(count: number, one: string, list: string): string {
  return count % 4 === 3 ? `${list}?limit=${limitAt(count)}` : one;
}

const workloadNames = workloads.map(({ name }) => name);
const usage = `Usage: npm run measure:capacity -- [options]

Starts PostgreSQL and one process of each service, the gateway and the REST proxy. For each workload it raises the request rate until
the 99th percentile of latencies exceeds the limit, or a request fails. Use an idle machine, with eight cores or more.

  --p99-ms N     limit for the 99th percentile, 1 to 10,000 ms; 100 by default
  --seconds N    duration of each rate, 1 to 600, after a warm-up of one second; 5 by default
  --only A,B     workloads to measure, of: ${workloadNames.join(", ")}
  --write        writes the tables into docs/capacity.md
`;

interface CapacityOptions {
  readonly p99MsMax: number;
  readonly seconds: number;
  readonly only: readonly string[];
  readonly isWrite: boolean;
}

/** @throws Error for an invalid command line. */
function readOptions(args: readonly string[]): CapacityOptions {
  const text = (fallback: string) => ({ type: "string", default: fallback }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      "p99-ms": text("100"),
      seconds: text("5"),
      only: text(workloadNames.join()),
      write: { type: "boolean", default: false },
    },
  });
  const [p99MsMax, seconds, only] = [Number(values["p99-ms"]), Number(values.seconds), values.only.split(",")];
  if (!(p99MsMax >= 1 && p99MsMax <= 10_000)) throw new Error("--p99-ms is out of range.");
  if (!(seconds >= 1 && seconds <= 600)) throw new Error("--seconds is out of range.");
  const unknown = only.find((name) => !workloadNames.includes(name));
  if (unknown !== undefined) throw new Error(`There is no workload "${unknown}".`);
  return { p99MsMax, seconds, only, isWrite: values.write };
}

function tryReadOptions(): CapacityOptions | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Measures the workloads one after the other. Stops everything that it started. */
async function measureAll({ p99MsMax, seconds, only }: CapacityOptions): Promise<readonly WorkloadResult[]> {
  const cleanups: (() => unknown)[] = [];
  const results: WorkloadResult[] = [];
  try {
    const platform = await startMeasuredPlatform((cleanUp) => void cleanups.push(cleanUp));
    print("one process of each service, the gateway and the REST proxy run, with seeded databases");
    for (const workload of workloads.filter(({ name }) => only.includes(name))) {
      await warmUp(platform, workload);
      const measure = async (perSecond: number) => {
        const result = await measureRate(platform, workload, { perSecond, seconds });
        print(describe(workload, result));
        return result;
      };
      results.push({ workload: workload.name, ...(await findHighestRate({ p99MsMax, measure })) });
    }
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
  }
  return results;
}

function startMeasuredPlatform(onCleanup: (cleanUp: () => unknown) => void): Promise<Platform> {
  return startPlatform({
    run: { onCleanup },
    isSeeded: true,
    replicas: replicasOfEachPart(1),
    // All requests come from one client. The REST proxy counts them as in production, with a limit too high to reject one.
    environment: (part) =>
      part === "rest-proxy" ? { RATE_LIMIT_EXEMPT: "none", RATE_LIMIT_READS_PER_MINUTE: "100000000" } : {},
  });
}

async function warmUp(platform: Platform, workload: CapacityWorkload): Promise<void> {
  const client = createHttpClient(replicaOf(platform, workload.part).url);
  const endMs = performance.now() + firstWarmUpMs;
  let count = 0;
  const sendRepeatedly = async () => {
    while (performance.now() < endMs) await client.send(workload.createRequest(count++, platform.token));
  };
  await Promise.all(Array.from({ length: warmUpClients }, sendRepeatedly));
  client.close();
}

async function measureRate(
  platform: Platform,
  workload: CapacityWorkload,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<RateResult> {
  const client = createHttpClient(replicaOf(platform, workload.part).url);
  const load = startLoad({
    perSecond,
    send: async (count) =>
      findResponseProblem(await client.send(workload.createRequest(count, platform.token)), [200], () => true),
  });
  await sleep(warmUpMs);
  load.reset();
  const [before, startedMs] = [await readCpu(platform), performance.now()];
  await sleep(seconds * 1_000);
  const [after, endedMs] = [await readCpu(platform), performance.now()];
  const { count, latenciesMs, sendDelayMsMax, failures } = await load.stop();
  client.close();
  return {
    perSecond,
    requests: count,
    failures: [...failures.values()].reduce((sum, times) => sum + times, 0),
    p99Ms: percentile(latenciesMs, 99),
    sendDelayMsMax,
    cpuSeconds: new Map([...after].map(([part, cpu]) => [part, cpu - (before.get(part) ?? 0)])),
    seconds: (endedMs - startedMs) / 1_000,
  };
}

/** The CPU seconds that each part has used since its start, from its metrics. */
async function readCpu({ replicas }: Platform): Promise<ReadonlyMap<string, number>> {
  const reading = Object.entries(replicas).map(async ([part, [replica]]) => {
    const text = await (await fetch(`http://${replica?.admin}/metrics`)).text();
    return [part, Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])] as const;
  });
  return new Map(await Promise.all(reading));
}

function describe({ name }: CapacityWorkload, { perSecond, p99Ms, failures, sendDelayMsMax }: RateResult): string {
  const sendDelay = `sent at most ${sendDelayMsMax.toFixed(0)} ms late`;
  return `${name}: ${perSecond}/s, p99 ${p99Ms.toFixed(1)} ms, ${failures} failed, ${sendDelay}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const options = tryReadOptions();
if (options) {
  const text = formatTables(await measureAll(options), options);
  print(`\n${text}`);
  if (options.isWrite) writeFileSync(page, putBetweenMarkers(readFileSync(page, "utf8"), text));
}
