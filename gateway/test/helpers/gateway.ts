import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, startServer } from "@tributary/kit/lifecycle";
import { silentLog } from "@tributary/kit/log";
import { answerBrokenRequests } from "../../src/admit/broken-request.ts";
import { readConfig } from "../../src/config.ts";
import { createGateway } from "../../src/server.ts";
import type { Observation } from "../../src/telemetry/observations.ts";

process.env["APOLLO_TELEMETRY_DISABLED"] = "1";

export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any;
}

export interface RunningGateway extends RunningServer {
  readonly observations: Observation[];
  /** The supergraph's file, when it was started with one. */
  readonly file: string;
  /** Resolves once there are so many observations of a kind. */
  seen(kind: Observation["kind"], count?: number): Promise<void>;
  isReady(): boolean;
  ask(query: string, o?: AskOptions): Promise<GraphqlAnswer>;
}

export interface AskOptions {
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
}

/** A gateway in this process, on a free port, ready when it was given a supergraph. */
export async function startGateway(o: GatewayTestOptions): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-test-"));
  const file = join(folder, "supergraph.graphql");
  if (o.supergraphSdl !== undefined) writeFileSync(file, o.supergraphSdl);
  const source = o.environment?.["SUPERGRAPH_URL"] === undefined ? { SUPERGRAPH_FILE: file } : {};
  const config = readConfig({ ...source, SUPERGRAPH_POLL_MS: "20", PORT: "0", ...o.environment });
  const { observations, observe, seen } = createRecorder();
  const gateway = createGateway({ config, observe, graphiqlFolder: o.graphiqlFolder ?? join(folder, "graphiql") });
  const server = await startServer({
    ...config,
    ...gateway,
    name: "gateway",
    log: silentLog,
    prepare: answerBrokenRequests,
  });
  if (o.supergraphSdl !== undefined) await seen("supergraph-loaded");
  return {
    ...server,
    isReady: gateway.isReady,
    observations,
    file,
    seen,
    ask: (query, options) => ask(`${server.url}/graphql`, query, options),
    drain: async () => {
      await server.drain();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function ask(
  url: string,
  query: string,
  { variables, operationName, headers, signal }: AskOptions = {},
): Promise<GraphqlAnswer> {
  return readAnswer(
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ query, variables, operationName }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

export async function readAnswer(response: Response): Promise<GraphqlAnswer> {
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
  const observations: Observation[] = [];
  const waiting = new Set<() => void>();
  return {
    observations,
    observe(observation: Observation): void {
      observations.push(observation);
      for (const check of waiting) check();
    },
    seen: (kind: Observation["kind"], count = 1) =>
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
