// The IPC protocol of the load process: it sends `ready` once, when it can receive jobs. For each job it sends two messages, or one `problem` in place
// of the rest; after a problem it accepts the next job.

/** One measurement, sent to the load process. */
export interface LoadJob {
  readonly port: number;
  /** The request bodies, sent in turn. */
  readonly bodies: readonly string[];
  readonly connections: number;
  /** Sent once each before the warm-up, to fill the gateway's caches. */
  readonly primingBodies: readonly string[];
  /** `once`: each body is sent once, and the load ends with the last response or with the window. */
  readonly order: "in turn" | "once";
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** The interval of a probe, `{__typename}` on a separate connection during the load. */
  readonly probeEveryMs?: number;
  /** The process whose CPU time and memory are measured. */
  readonly gatewayPid: number;
  readonly subgraphsPid: number;
}

export interface ClosedLoopReport {
  readonly requests: number;
  readonly seconds: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** Responses with another status than 200, or another length than the first response to the same request. */
  readonly wrongResponses: number;
  /** Status and length of the first wrong response, as text. */
  readonly firstWrongResponse?: string;
  readonly cpuSeconds: { readonly gateway: number; readonly subgraphs: number; readonly load: number };
  readonly rssBytesMax: number;
  /** The share of each core that other processes used during the window, 0 to 1. */
  readonly otherCpuShares: readonly [gatewayCore: number, loadCore: number];
  /** The probe's latencies in the window; undefined without a probe. */
  readonly probeMs?: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** Sent in this order: `window-started`, `report`. A `problem` replaces either and ends the job. */
export type LoadMessage =
  | { readonly kind: "window-started" }
  | { readonly kind: "report"; readonly report: ClosedLoopReport }
  | { readonly kind: "problem"; readonly problem: string };
