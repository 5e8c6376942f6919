// The gateways and REST proxies under test, on core 0, and their requests. The load runs in this process, on core 1, where the upstream has a process too.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { composeServices } from "@apollo/composition";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { launch, pinThisProcess, receiveMessage } from "@tributary/kit/testing/processes/launched-process";
import { parse } from "graphql";
import { readNodeArguments } from "../../../../bench/contenders/image-arguments.ts";
import { endpointKeys, type Environment } from "../../platform/part-process.ts";
import type { VerificationRun } from "../../verification.ts";
import type { RequestTemplate } from "./caller-load.ts";
import { itemFields, itemTypeDefs } from "./item-schema.ts";

export type OverloadRun = Pick<VerificationRun, "isControl" | "print" | "claim" | "onCleanup">;

export type EndpointKind = "gateway" | "rest-proxy";

export type Priority = keyof typeof itemFields;

/** What load is sent to: a process under test, or the empty handler. */
export interface LoadTarget {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<unknown>;
}

export interface TestedProcess extends LoadTarget {
  readonly adminPort: number;
  /** False once it has exited: it is never restarted. */
  isRunning(): boolean;
}

/**
 * Starts a process.
 * @param environment in addition to the settings of production.
 * @param preloads modules that the process loads first.
 */
export type ProcessStarter = (
  kind: EndpointKind,
  environment: Environment,
  preloads?: readonly string[],
) => Promise<TestedProcess>;

export async function createProcessStarter(run: Pick<VerificationRun, "onCleanup">): Promise<ProcessStarter> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-overload-"));
  run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  pinThisProcess(1);
  // The processes under test set this flag too (kit/src/process/main.ts). Without it, full garbage collections would delay requests.
  setFlagsFromString("--no-allocation-site-pretenuring");
  const upstreamUrl = await launchItemUpstream(run);
  const sources = {
    gateway: { SUPERGRAPH_FILE: join(folder, "supergraph.graphql") },
    "rest-proxy": { ROUTES_FILE: join(folder, "routes.json"), ITEMS_URL: upstreamUrl, ITEMS_FEED_URL: "none" },
  };
  writeFileSync(sources.gateway.SUPERGRAPH_FILE, composeItems(`${upstreamUrl}/graphql`));
  writeFileSync(sources["rest-proxy"].ROUTES_FILE, JSON.stringify({ routes }));
  return async (kind, environment, preloads = []) => {
    const adminPort = await pickFreePort();
    const variables = { ...productionSettings, ...sources[kind], ADMIN_PORT: String(adminPort), ...environment };
    const args = [...preloads.flatMap((file) => ["--import", file]), ...readNodeArguments(kind)];
    const started = await launchOnFirstCore(args, variables, run);
    return { ...started, adminPort };
  };
}

/** Resolves with the URL of item-upstream.ts. */
function launchItemUpstream({ onCleanup }: Pick<VerificationRun, "onCleanup">): Promise<string> {
  const upstream = launch({
    args: [join(import.meta.dirname, "item-upstream.ts")],
    core: 1,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  onCleanup(() => upstream.stop());
  return receiveMessage<string>(upstream);
}

/** Starts empty-handler.ts. */
export function startEmptyHandler(run: Pick<OverloadRun, "onCleanup">): Promise<LoadTarget> {
  return launchOnFirstCore([join(import.meta.dirname, "empty-handler.ts")], {}, run);
}

async function launchOnFirstCore(
  args: readonly string[],
  variables: Environment,
  { onCleanup }: Pick<VerificationRun, "onCleanup">,
) {
  const port = await pickFreePort();
  const environment = { NODE_ENV: "production", ...variables, HOST: "127.0.0.1", PORT: String(port) };
  const launched = launch({ args, environment, core: 0 });
  onCleanup(() => launched.stop());
  await launched.untilReady(`http://127.0.0.1:${port}`);
  return { pid: launched.pid, port, isRunning: () => launched.isRunning(), stop: () => launched.stop() };
}

/** Without rate limits, and without token verification (no JWKS_URL). */
const productionSettings = {
  PROFILE: "production",
  ...endpointKeys,
  LOG_LEVEL: "warn",
  TRUSTED_PROXIES: "none",
  RATE_LIMIT_READS_PER_MINUTE: "0",
  RATE_LIMIT_WRITES_PER_MINUTE: "0",
};

function composeItems(url: string): string {
  const { supergraphSdl, errors } = composeServices([{ name: "items", url, typeDefs: parse(itemTypeDefs) }]);
  if (supergraphSdl === undefined) throw new Error(`The schema does not compose: ${errors?.join("\n")}`);
  return supergraphSdl;
}

/** One route for each priority. */
const routes = Object.keys(itemFields).map((priority) => ({
  id: priority,
  method: "GET",
  path: `/${priority}/:id`,
  versions: [1],
  query: [],
  cache: "none",
  priority,
  service: "items",
  summary: `Items, ${priority}`,
}));

/** A request to the gateway whose response has all items. */
export function createRequest(
  { port }: LoadTarget,
  priority: Priority = "normal",
  localAddress = "127.0.0.1",
): RequestTemplate {
  const selection = `${itemFields[priority]}(skip: $s) { id name price tags }`;
  const write = (unique: number) => toPost(selection, unique);
  return { kind: priority, port, localAddress, write, bodyBytes: [50_000, Infinity] };
}

function toPost(selection: string, unique: number): string {
  const body = `{"query":"query($s:Int){${selection}}","variables":{"s":${unique}}}`;
  const head = [
    "POST /graphql HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    "Accept: application/json",
    `Content-Length: ${body.length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
