import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, startServer } from "@tributary/kit/process/lifecycle";
import { silentLog } from "@tributary/kit/process/log";
import { readConfig, settingsFileOf } from "../../src/config.ts";
import { createSettingsStore, readSettingsFile } from "../../src/settings-store.ts";
import { createPlannerPool, type PlannerPool } from "../../src/engine/plan/planner/planner-pool.ts";
import { createGateway, type Gateway } from "../../src/server.ts";
import type { TelemetryObservers } from "../../src/telemetry/gateway-telemetry.ts";
import type { GatewayObservation, GatewayObserver } from "../../src/observations.ts";
import { recordPath } from "./compare-paths.ts";
import { createPathComparer, type MirrorGateway } from "./mirror-gateways.ts";

export interface GraphqlResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read responses of every shape
  readonly body: any;
}

export interface RunningGateway extends RunningServer {
  readonly observations: GatewayObservation[];
  /** The supergraph's file, if it was started with one. */
  readonly file: string;
  /** Resolves when there are `count` observations of a kind. */
  seen(kind: GatewayObservation["kind"], count?: number): Promise<void>;
  isReady(): boolean;
  cacheSizes: Gateway["cacheSizes"];
  /** Whether the last request took the fast path. */
  tookFastPath(): boolean;
  send(query: string, o?: SendOptions): Promise<GraphqlResponse>;
}

export interface SendOptions {
  /** `/graphql` by default. */
  readonly path?: string;
  readonly variables?: object;
  readonly operationName?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface GatewayTestOptions {
  /** Undefined: the file does not exist yet. */
  readonly supergraphSdl?: string;
  readonly environment?: Record<string, string>;
  readonly graphiqlFolder?: string;
  /** Undoes the changes of one request in the subgraphs. */
  readonly reset?: () => void;
  readonly observers?: TelemetryObservers | undefined;
  /** Not closed with the gateway. Default: the pool that all gateways of a test file share. */
  readonly plannerPool?: PlannerPool;
}

export function createTestPlannerPool(o: {
  readonly workers?: number;
  readonly loadTimeoutMs?: number;
  readonly observe: GatewayObserver;
}): PlannerPool {
  return createPlannerPool({ ...readConfig({ SUPERGRAPH_FILE: "unused" }).planning, ...o });
}

const observersOfSharedPool = new Set<GatewayObserver>();
let sharedPool: PlannerPool | undefined;

/**
 * A planner worker takes longer to start than a gateway. Every gateway that uses the pool gets its observations. Nothing closes it: an idle worker
 * does not keep the process alive.
 */
function useSharedPool(observe: GatewayObserver): PlannerPool {
  observersOfSharedPool.add(observe);
  sharedPool ??= createTestPlannerPool({
    observe: (observation) => observersOfSharedPool.forEach((each) => each(observation)),
  });
  return sharedPool;
}

/** Whether each request is also sent through both paths, see mirror-gateways.ts. */
export const comparesPaths = process.env["COMPARE_PATHS"] === "true";

/** A gateway in this process, on a free port. It is ready if it was given a supergraph. */
export async function startGateway(o: GatewayTestOptions): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-test-"));
  const file = join(folder, "supergraph.graphql");
  if (o.supergraphSdl !== undefined) writeFileSync(file, o.supergraphSdl);
  const source: { SUPERGRAPH_FILE?: string } =
    o.environment?.["SUPERGRAPH_URL"] === undefined ? { SUPERGRAPH_FILE: file } : {};
  // The tests' requests and subgraphs share this process's event loop, so it may be late.
  const environment = { ...source, SUPERGRAPH_POLL_MS: "20", PORT: "0", ADMISSION: "false", ...o.environment };
  const about = {
    environment,
    graphiqlFolder: o.graphiqlFolder ?? join(folder, "graphiql"),
    ...(o.plannerPool && { plannerPool: o.plannerPool }),
  };
  const recorder = createRecorder();
  const mirrors =
    comparesPaths && source.SUPERGRAPH_FILE ? await startMirrors(o, about, recorder.supergraphId) : undefined;
  let tookFastPath = () => false;
  const observers = o.observers ? { observers: o.observers } : {};
  const { server, isReady, cacheSizes } = await listen({ ...about, ...observers }, recorder.observe, (handler) => {
    const watched = recordPath(handler);
    ({ tookFastPath } = watched);
    return mirrors ? mirrors.watch(watched.handler) : watched.handler;
  });
  if (o.supergraphSdl !== undefined) await recorder.seen("supergraph-loaded");
  return {
    ...server,
    ...recorder,
    isReady,
    cacheSizes,
    file,
    tookFastPath: () => tookFastPath(),
    send: (query, options) => sendOperation(`${server.url}${options?.path ?? "/graphql"}`, query, options),
    drain: async () => {
      await server.drain();
      rmSync(folder, { recursive: true, force: true });
      await mirrors?.drain();
    },
  };
}

interface ListenOptions {
  readonly environment: Record<string, string>;
  readonly graphiqlFolder: string;
  readonly observers?: TelemetryObservers;
  readonly plannerPool?: PlannerPool;
}

async function listen(
  { environment, plannerPool: ownPool, ...options }: ListenOptions,
  observe: (observation: GatewayObservation) => void,
  wrap: (handler: RequestListener) => RequestListener = (handler) => handler,
) {
  const file = readSettingsFile(settingsFileOf(environment), environment);
  const config = readConfig(environment, file.settings);
  const plannerPool = ownPool ?? useSharedPool(observe);
  const settings = createSettingsStore(file, config, environment);
  const gateway = createGateway({
    config,
    settings,
    observe,
    plannerPool: { ...plannerPool, close: () => Promise.resolve(void observersOfSharedPool.delete(observe)) },
    ...options,
  });
  // As in main.ts: `config.requestTimeoutMs` is for responses, and that of the server for the arrival of requests.
  const { host, port, drainDelayMs, shutdownGraceMs, requestsInFlightMax } = config;
  const server = await startServer({
    ...gateway,
    host,
    port,
    drainDelayMs,
    shutdownGraceMs,
    requestsInFlightMax,
    handler: wrap(gateway.handler),
    name: "gateway",
    log: silentLog,
    servesStatus: config.profile === "development",
  });
  return { server, isReady: gateway.isReady, cacheSizes: gateway.cacheSizes };
}

/** A second gateway like the one under test. */
export async function startMirror(about: ListenOptions, isLoaded: boolean): Promise<MirrorGateway> {
  const { observe, seen, supergraphId } = createRecorder();
  let tookFastPath = () => false;
  const { server } = await listen(about, observe, (handler) => {
    const watched = recordPath(handler);
    ({ tookFastPath } = watched);
    return watched.handler;
  });
  if (isLoaded) await seen("supergraph-loaded");
  const { port, drain } = server;
  return { port, drain, seen, tookFastPath: () => tookFastPath(), supergraphId };
}

async function startMirrors(o: GatewayTestOptions, about: ListenOptions, supergraphId: () => string | undefined) {
  // Copies need not wait long for a subgraph that a test keeps silent.
  const shortTimeout = { SUBGRAPH_TIMEOUT_MS: "3000", ...about.environment };
  const start = (fastPath: string) =>
    startMirror({ ...about, environment: { ...shortTimeout, FAST_PATH: fastPath } }, o.supergraphSdl !== undefined);
  const [full, fast] = await Promise.all([start("false"), start("true")]);
  return createPathComparer({ full, fast, supergraphId, ...(o.reset && { reset: o.reset }) });
}

export async function sendOperation(
  url: string,
  query: string,
  { variables, operationName, headers, signal }: SendOptions = {},
): Promise<GraphqlResponse> {
  return readGraphqlResponse(
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query, variables, operationName }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

export async function readGraphqlResponse(response: Response): Promise<GraphqlResponse> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parseJson(text) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function createRecorder() {
  const observations: GatewayObservation[] = [];
  const waiting = new Set<() => void>();
  let supergraphId: string | undefined;
  return {
    observations,
    /** Of the last loaded supergraph. Tests clear the list. */
    supergraphId: () => supergraphId,
    observe(observation: GatewayObservation): void {
      // These tests do not check how an operation was planned.
      if (observation.kind.startsWith("plan-")) return;
      if (observation.kind === "supergraph-loaded") supergraphId = observation.id;
      observations.push(observation);
      for (const check of waiting) check();
    },
    seen: (kind: GatewayObservation["kind"], count = 1) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (observations.filter((observation) => observation.kind === kind).length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}
