/** What the load process is told to do, and what it says afterwards. Both cross a process's border as JSON. */
export interface LoadJob {
  readonly port: number;
  /** The request bodies, sent in turn. */
  readonly bodies: readonly string[];
  readonly connections: number;
  /** Sent once each before anything is timed, so that caches hold what they can hold. */
  readonly primeBodies: readonly string[];
  /** `once`: each body is sent once, and the load ends with the last one or with the window. */
  readonly order: "in turn" | "once";
  readonly warmUpMs: number;
  readonly windowMs: number;
  /** A `{__typename}` on a connection of its own, so often, beside the load: an innocent client. */
  readonly probeEveryMs?: number;
  /** Whose CPU and memory is read at the window's ends. */
  readonly gatewayPid: number;
  readonly subgraphsPid: number;
}

export interface LoadReport {
  readonly requests: number;
  readonly seconds: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** Answers without status 200, or of another length than the first time. */
  readonly wrongAnswers: number;
  /** The first of them, in words. */
  readonly firstWrong?: string;
  readonly cpuSeconds: { readonly gateway: number; readonly subgraphs: number; readonly load: number };
  readonly rssBytesMax: number;
  /** What others took of the gateway's and of the load's core, as a part of the window. */
  readonly neighbours: readonly [gatewayCore: number, loadCore: number];
  /** The probe's latencies in the window; absent without a probe. */
  readonly probeMs?: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** In this order: the window begins, the report; or a problem at any time. */
export type LoadSaid =
  | { readonly kind: "window-begins" }
  | { readonly kind: "report"; readonly report: LoadReport }
  | { readonly kind: "problem"; readonly problem: string };
