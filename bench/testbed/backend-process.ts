// The backends of the contenders, in one process on the load's core: HTTP servers on raw sockets that send canned responses. They are the four
// subgraphs, the origin of the REST proxies, an OTLP collector that discards its traces, the public keys of the callers, and a change feed. The
// process sends their URLs once over IPC, and then replies to each message with the fetch counts.
import { setTimeout } from "node:timers/promises";
import { startStubFeed } from "@tributary/kit/testing/stub-feed";
import { publicKeys } from "../graph/callers.ts";
import { cacheablePath, originBody, uncacheablePath } from "../graph/rest-content.ts";
import {
  type BenchmarkSubgraphName,
  type SubgraphLatencies,
  subgraphNames,
  type SubgraphUrls,
} from "../graph/schemas.ts";
import { createCannedResponses } from "./canned-responses.ts";
import { type Respond, startStubUpstream, toHttp } from "./stub-upstream.ts";

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

export interface FetchCounts {
  /** Requests to the subgraphs and the origin since the start. */
  readonly fetches: number;
  /** Subgraph responses that were not prepared; computing one takes a few milliseconds on the load's core. */
  readonly computed: number;
}

/** Sets the latencies; any other message only counts fetches. */
export interface BackendMessage {
  readonly latenciesMs: SubgraphLatencies;
}

const counts = { fetches: 0, computed: 0 };
let latenciesMs: SubgraphLatencies = {};

const subgraphUrls: Partial<Record<BenchmarkSubgraphName, string>> = {};
for (const name of subgraphNames) {
  const getCannedResponse = createCannedResponses(name, () => {
    counts.computed += 1;
  });
  const url = await startStubUpstream((_path, body) => {
    counts.fetches += 1;
    const response = getCannedResponse(body);
    const latencyMs = latenciesMs[name];
    return latencyMs === undefined ? response : setTimeout(latencyMs).then(() => response);
  });
  subgraphUrls[name] = `${url}/graphql`;
}
const urls: BackendUrls = {
  subgraphUrls: subgraphUrls as SubgraphUrls,
  originUrl: await startStubUpstream(createOrigin()),
  // An empty protobuf body reports that all spans were accepted (OTLP specification, "Full Success").
  collectorUrl: await startStubUpstream(() => toHttp("", ["Content-Type: application/x-protobuf"])),
  jwksUrl: await startStubUpstream(() => toHttp(publicKeys, ["Content-Type: application/json"])),
  feedUrl: (await startStubFeed()).url,
};

process.on("message", (message: string | BackendMessage) => {
  if (typeof message === "object") latenciesMs = message.latenciesMs;
  process.send?.(counts);
});
process.on("disconnect", () => process.exit());
process.send?.(urls);

function createOrigin(): Respond {
  const json = JSON.stringify(originBody);
  const commonHeaders = [`Date: ${new Date().toUTCString()}`, "Content-Type: application/json"];
  // Fresh for the whole run, stated in a field that every contender supports.
  const cacheableHeaders = ["Cache-Control: public, max-age=3600", 'ETag: "7-v1-public"', "Vary: Accept"];
  const uncacheableHeaders = ["Cache-Control: private, no-cache", 'ETag: "3-v1-own"', "Vary: Authorization"];
  const responses = new Map([
    [`/rest${cacheablePath}`, toHttp(json, [...commonHeaders, ...cacheableHeaders])],
    [`/rest${uncacheablePath}`, toHttp(json, [...commonHeaders, ...uncacheableHeaders])],
  ]);
  const notFound = Buffer.from("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  return (path) => {
    counts.fetches += 1;
    return responses.get(path) ?? notFound;
  };
}
