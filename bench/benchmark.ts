// What a benchmark consists of. gateway.ts, rest.ts and telemetry.ts are the three benchmarks; main.ts measures them.
import type { BenchmarkSubgraphName, SubgraphUrls } from "./graph/schemas.ts";
import type { LoadRequest } from "./load/connection.ts";

export interface Benchmark {
  /** The script in package.json. */
  readonly script: string;
  /** The heading of its section in RESULTS.md. */
  readonly title: string;
  readonly contenders: readonly Contender[];
  readonly workloads: readonly Workload[];
  readonly ratioTargets: readonly CpuRatioTarget[];
  /** The contender whose memory our contenders must not exceed. */
  readonly memoryReference?: string;
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly windowMs: number;
}

/** A server to measure. */
export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Whether it is Tributary's; only then do the targets for memory and pauses apply. */
  readonly isOurs: boolean;
  readonly requires?: "peers" | "nginx" | "posts database";
  /** The names of the workloads that it takes part in; all that are not special if undefined. */
  readonly workloads?: readonly string[];
  /** A second contender, measured at the same time on the same core. The result is the contender's CPU per request divided by the baseline's. */
  readonly baseline?: Contender;
  /** The target of that ratio; undefined if it has none, as for a control. */
  readonly baselineRatioMax?: number;
  start(context: ContenderContext): ContenderCommand;
}

/** What the contenders send their requests to. */
export interface BackendUrls {
  readonly subgraphUrls: SubgraphUrls;
  readonly originUrl: string;
  readonly collectorUrl: string;
  /** The public keys of the callers' issuer. */
  readonly jwksUrl: string;
  /** The change feed of every subgraph, which never reports a change. */
  readonly feedUrl: string;
}

export interface ContenderContext extends BackendUrls {
  /** The posts service's database; empty if no contender requires it. */
  readonly databaseUrl: string;
  /** The port to listen on. */
  readonly port: number;
  /** An empty folder for this process only. */
  readonly folder: string;
}

export interface ContenderCommand {
  /** Defaults to the Node of this process. The program must stay in the foreground. */
  readonly program?: string;
  readonly command: readonly string[];
  /** The process gets these variables, `PATH`, `HOME` and `NODE_ENV=production`, and no others. */
  readonly environment?: Readonly<Record<string, string>>;
}

export type SubgraphLatencies = Readonly<Partial<Record<BenchmarkSubgraphName, number>>>;

export interface Workload {
  readonly name: string;
  readonly title: string;
  readonly requests: readonly LoadRequest[];
  /** Whether only the contenders that name the workload take part in it. */
  readonly isOptIn?: boolean;
  /** Milliseconds by which each subgraph delays its responses: none by default. */
  readonly latenciesMs?: SubgraphLatencies;
  /** Sent once each before the warm-up, to fill the caches. Defaults to `requests`. */
  readonly primingRequests?: readonly LoadRequest[];
  /** Whether the requests have `If-None-Match` with the ETag of an earlier response, and the expected status is 304 instead of 200. */
  readonly isConditional?: boolean;
  readonly connections: number;
  /**
   * `in turn`: the requests are repeated through warm-up and window. `once`: each request is sent once, without a warm-up, and the load ends with the
   * last response or with the window.
   */
  readonly order: "in turn" | "once";
  /** The interval of a probe, `{__typename}` on a separate connection during the load; only workloads that measure pauses have one. */
  readonly probeEveryMs?: number;
  /** Whether the JSON body of a response with status 200 is right. */
  isRight(body: unknown, request: LoadRequest): boolean;
}

/** CPU per request of the numerator divided by that of the denominator, with targets by workload. */
export interface CpuRatioTarget {
  readonly title: string;
  /** Names of contenders. */
  readonly numerator: string;
  readonly denominator: string;
  /** The denominator's workload, if it is not the numerator's. */
  readonly denominatorWorkload?: string;
  readonly min?: Readonly<Record<string, number>>;
  readonly max?: Readonly<Record<string, number>>;
}
