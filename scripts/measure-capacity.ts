// `npm run measure:capacity`: measures the request rate that one replica of each part sustains, and the CPU time of a request. With --write
// the tables in docs/capacity.md are replaced. For each workload it warms the processes up, then raises the rate until the p99 limit is exceeded.
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { quantile } from "../bench/measure/quantile.ts";
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
import { startLoad } from "./verify/traffic/open-loop.ts";
import { limitAt, postAt, skuAt, userAt } from "./verify/traffic/seeded.ts";

const page = fileURLToPath(new URL("../docs/capacity.md", import.meta.url));
/** Before each measured rate, at this rate. */
const warmUpMs = 1_000;
/** Once for each workload: a warm process is several times as fast as a cold one (JIT, caches), so it is first loaded at the maximum rate. */
const firstWarmUpMs = 12_000;
const warmUpClients = 16;
/** In the metrics of a process, as Prometheus text. */
const cpuSecondsLine = /^process_cpu_seconds_total (\S+)$/m;

/** A kind of requests. */
interface CapacityWorkload {
  readonly name: string;
  /** The part that receives the requests. */
  readonly part: PartName;
  /** @param requestNumber counted anew for the warm-up and for each rate; `n` below. It selects the data, so successive requests differ. */
  createRequest(requestNumber: number, token: string): HttpClientRequest;
}

/** Uses all four services, and only fields that every client may read. */
const acrossAll = `query AcrossAll($id: ID!, $sku: ID!) { product(sku: $sku) { title post { title author { name } } }
  user(id: $id) { name posts(first: 2) { title comments(first: 1) { body author { name } } } } }`;
const onePost = "query OnePost($id: ID!) { post(id: $id) { title author { name } } }";

const workloads: readonly CapacityWorkload[] = [
  {
    name: "users",
    part: "users",
    createRequest: (n) => get(mixedPath(n, `/rest/v1/users/${userAt(n)}`, "/rest/v1/users")),
  },
  {
    name: "posts",
    part: "posts",
    createRequest: (n) => get(mixedPath(n, `/rest/v1/posts/${postAt(n)}`, "/rest/v1/posts")),
  },
  {
    name: "comments",
    part: "comments",
    createRequest: (n) => get(`/rest/v1/posts/${postAt(n)}/comments?limit=${limitAt(n)}`),
  },
  {
    name: "orders",
    part: "orders",
    createRequest: (n) => get(mixedPath(n, `/rest/v1/products/${skuAt(n)}`, "/rest/v1/products")),
  },
  { name: "rest-cached", part: "rest-proxy", createRequest: (n) => get(`/v1/posts/${postAt(n % 10)}`) },
  {
    name: "rest-forwarded",
    part: "rest-proxy",
    createRequest: (n, token) => get(mixedPath(n, `/v1/users/${userAt(n)}`, "/v1/users"), token),
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
  const headers: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return { method: "GET", path, headers };
}

function graphql(query: string, variables: object, token: string): HttpClientRequest {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query, variables }) };
}

/** The path of a request: every fourth request reads a list, the others a single resource. */
function mixedPath(requestNumber: number, resourcePath: string, listPath: string): string {
  const isList = requestNumber % 4 === 3;
  return isList ? `${listPath}?limit=${limitAt(requestNumber)}` : resourcePath;
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
  /** The names of the workloads to measure. */
  readonly only: readonly string[];
  readonly writesPage: boolean;
}

/** @throws Error for an invalid command line. */
function readOptions(args: readonly string[]): CapacityOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "p99-ms": { type: "string", default: "100" },
      seconds: { type: "string", default: "5" },
      only: { type: "string", default: workloadNames.join(",") },
      write: { type: "boolean", default: false },
    },
  });
  const p99MsMax = Number(values["p99-ms"]);
  const seconds = Number(values.seconds);
  const only = values.only.split(",");
  // NaN is in no range.
  const isP99InRange = p99MsMax >= 1 && p99MsMax <= 10_000;
  if (!isP99InRange) throw new Error("--p99-ms is out of range.");
  const areSecondsInRange = seconds >= 1 && seconds <= 600;
  if (!areSecondsInRange) throw new Error("--seconds is out of range.");
  const unknownName = only.find((name) => !workloadNames.includes(name));
  if (unknownName !== undefined) throw new Error(`There is no workload "${unknownName}".`);
  return { p99MsMax, seconds, only, writesPage: values.write };
}

/** Undefined if the command line is invalid: then the error and the usage are printed, and the exit code is 2. */
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
    const platform = await startMeasuredPlatform((cleanUp) => {
      cleanups.push(cleanUp);
    });
    print("one process of each service, the gateway and the REST proxy run, with seeded databases");
    for (const workload of workloads.filter(({ name }) => only.includes(name))) {
      await warmUp(platform, workload);
      const measure = async (perSecond: number) => {
        const result = await measureRate(platform, workload, { perSecond, seconds });
        print(describe(workload, result));
        return result;
      };
      const { sustained, failed } = await findHighestRate({ p99MsMax, measure });
      results.push({ workload: workload.name, sustained, failed });
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
    // All requests come from one client. The gateway and the REST proxy count them as in production, with a limit too high to reject one.
    environment: (part) =>
      part === "gateway" || part === "rest-proxy"
        ? { RATE_LIMIT_EXEMPT: "none", RATE_LIMIT_READS_PER_MINUTE: "100000000" }
        : {},
  });
}

async function warmUp(platform: Platform, workload: CapacityWorkload): Promise<void> {
  const client = createHttpClient(replicaOf(platform, workload.part).url);
  const endMs = performance.now() + firstWarmUpMs;
  let requestNumber = 0;
  const sendRepeatedly = async () => {
    while (performance.now() < endMs) {
      const request = workload.createRequest(requestNumber, platform.token);
      requestNumber++;
      await client.send(request);
    }
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
    send: async (requestNumber) => {
      const response = await client.send(workload.createRequest(requestNumber, platform.token));
      return findResponseProblem(response, [200], () => true);
    },
  });
  await sleep(warmUpMs);
  load.reset();
  const cpuBefore = await readCpuSeconds(platform);
  const startedMs = performance.now();
  await sleep(seconds * 1_000);
  const cpuAfter = await readCpuSeconds(platform);
  const endedMs = performance.now();
  const { count, latenciesMs, sendDelayMsMax, failures } = await load.stop();
  client.close();
  const cpuSeconds = new Map<string, number>();
  for (const [part, cpuSecondsAfter] of cpuAfter) cpuSeconds.set(part, cpuSecondsAfter - (cpuBefore.get(part) ?? 0));
  return {
    perSecond,
    requests: count,
    // `failures` has the number of requests for each failure.
    failures: [...failures.values()].reduce((sum, failedRequests) => sum + failedRequests, 0),
    p99Ms: quantile(latenciesMs, 0.99),
    sendDelayMsMax,
    cpuSeconds,
    seconds: (endedMs - startedMs) / 1_000,
  };
}

/** The CPU seconds that each part has used since its start, from its metrics. */
async function readCpuSeconds({ replicas }: Platform): Promise<ReadonlyMap<string, number>> {
  const readings = Object.entries(replicas).map(async ([part, [replica]]) => {
    const response = await fetch(`http://${replica?.admin}/metrics`);
    const metrics = await response.text();
    return [part, Number(cpuSecondsLine.exec(metrics)?.[1])] as const;
  });
  return new Map(await Promise.all(readings));
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
  const results = await measureAll(options);
  const tables = formatTables(results, options);
  print(`\n${tables}`);
  if (options.writesPage) writeFileSync(page, putBetweenMarkers(readFileSync(page, "utf8"), tables));
}
