// The two endpoints under test: how their processes are started, and the requests of the load.
import { join } from "node:path";
import { composeServices } from "@apollo/composition";
import { parse } from "graphql";
import { readNodeArguments } from "../../../../bench/contenders/image-arguments.ts";
import { endpointKeys } from "../../platform/part-process.ts";
import { type RequestTemplate, uniqueMark } from "./load-job.ts";
import { stubFields, stubTypeDefs } from "./stub-upstream.ts";

export type EndpointKind = "gateway" | "rest-proxy";

export type Priority = keyof typeof stubFields;

export interface EndpointSettings {
  readonly supergraphFile: string;
  readonly routesFile: string;
  readonly stubPort: number;
}

/** Writes the supergraph and the route table into the folder. */
export function writeSettings(
  folder: string,
  stubPort: number,
  write: (file: string, text: string) => void,
): EndpointSettings {
  const supergraphFile = join(folder, "supergraph.graphql");
  const routesFile = join(folder, "routes.json");
  const service = { name: "items", url: `http://127.0.0.1:${stubPort}/graphql`, typeDefs: parse(stubTypeDefs) };
  const { supergraphSdl, errors } = composeServices([service]);
  if (supergraphSdl === undefined) throw new Error(`The stub's schema does not compose: ${errors?.join("\n")}`);
  write(supergraphFile, supergraphSdl);
  write(routesFile, JSON.stringify({ routes }));
  return { supergraphFile, routesFile, stubPort };
}

/** One route for each priority. Its responses are cacheable, but each request of the load has another URL. */
const routes = Object.keys(stubFields).map((priority) => ({
  id: priority,
  method: "GET",
  path: `/${priority}/:id`,
  versions: [1],
  query: [],
  cache: "public",
  priority,
  service: "items",
  summary: `Items, ${priority}`,
}));

interface ProcessSettings extends EndpointSettings {
  readonly port: number;
  readonly adminPort: number;
}

/** How to start the process under test: the settings of production, without rate limits and without token verification (no JWKS_URL). */
export function toProcessCommand(
  kind: EndpointKind,
  { supergraphFile, routesFile, stubPort, port, adminPort }: ProcessSettings,
) {
  const ofBoth = {
    PROFILE: "production",
    ...endpointKeys,
    HOST: "127.0.0.1",
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    LOG_LEVEL: "warn",
    TRUSTED_PROXIES: "none",
    RATE_LIMIT_READS_PER_MINUTE: "0",
    RATE_LIMIT_WRITES_PER_MINUTE: "0",
  };
  // The supergraph contains the stub's URL.
  const ofGateway = { ...ofBoth, SUPERGRAPH_FILE: supergraphFile };
  const ofRestProxy = {
    ...ofBoth,
    ROUTES_FILE: routesFile,
    ITEMS_URL: `http://127.0.0.1:${stubPort}`,
    ITEMS_FEED_URL: "none",
  };
  return { command: readNodeArguments(kind), environment: kind === "gateway" ? ofGateway : ofRestProxy };
}

export interface RequestOptions {
  /** The name under which the load's report counts the request; by default its priority. */
  readonly kind?: string;
  readonly priority?: Priority;
  readonly localAddress?: string;
  /** For the gateway only: a response of some 100 bytes instead of some 80 KB. */
  readonly isSmall?: boolean;
}

/** A long response has 1,000 or more items, from the REST proxy compressed, and an error is shorter. A small one has one item and any length. */
const bodyBytesMin = { gateway: 50_000, restProxy: 1_000, small: 1 };

/** A request to the endpoint. The load process replaces `uniqueMark` each time it sends the request, so that no cache serves it. */
export function createRequest(
  endpoint: { readonly kind: EndpointKind; readonly port: number },
  options: RequestOptions = {},
): RequestTemplate {
  const { priority = "normal", localAddress = "127.0.0.1", isSmall = false } = options;
  const common = { kind: options.kind ?? priority, port: endpoint.port, localAddress };
  if (endpoint.kind === "rest-proxy") {
    const path = `/v1/${priority}/${uniqueMark}`;
    return { ...common, text: toGet(path), bodyBytesMin: bodyBytesMin.restProxy };
  }
  if (isSmall) return { ...common, text: toPost("item(skip: $s) { id name }"), bodyBytesMin: bodyBytesMin.small };
  const selection = `${stubFields[priority]}(skip: $s) { id name price tags }`;
  return { ...common, text: toPost(selection), bodyBytesMin: bodyBytesMin.gateway };
}

function toPost(selection: string): string {
  const body = `{"query":"query($s:Int){${selection}}","variables":{"s":${uniqueMark}}}`;
  const head = [
    "POST /graphql HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    "Accept: application/json",
    `Content-Length: ${body.length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function toGet(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAccept-Encoding: br\r\n\r\n`;
}

/** The length of the list that `interleave` returns. The load repeats the list, so `share` is exact to 1/600. */
const mixLength = 600;

/**
 * A list of requests, of which `share` (0 to 1) are from `some`, evenly distributed, and the rest from `others`. The
 * requests of each list are used one after the other, again and again.
 */
export function interleave(
  share: number,
  some: readonly RequestTemplate[],
  others: readonly RequestTemplate[],
): readonly RequestTemplate[] {
  const takeSome = createCycle(some);
  const takeOther = createCycle(others);
  let someCount = 0;
  return Array.from({ length: mixLength }, (_, index) => {
    const someDue = Math.floor((index + 1) * share);
    if (someCount === someDue) return takeOther();
    someCount++;
    return takeSome();
  });
}

function createCycle(requests: readonly RequestTemplate[]): () => RequestTemplate {
  let taken = 0;
  return () => {
    const request = requests[taken % requests.length];
    if (!request) throw new Error("A list of requests is empty");
    taken++;
    return request;
  };
}
