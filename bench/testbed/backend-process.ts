// The backends of the contenders, in one process on the load's core: HTTP servers on raw sockets that send canned responses. They are the four
// subgraphs, the origin of the REST proxies, an OTLP collector that discards its traces, the public keys of the callers, and a change feed. The
// process sends their URLs once over IPC, and then replies to each message with the fetch counts.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { startStubFeed } from "@tributary/kit/testing/stub-feed";
import type { BackendUrls, SubgraphLatencies } from "../benchmark.ts";
import { publicKeys } from "../graph/callers.ts";
import { type BenchmarkSubgraphName, subgraphNames, type SubgraphUrls } from "../graph/schemas.ts";
import { createHttpReader } from "../load/http-reader.ts";
import { cacheablePath, originBody, uncacheablePath } from "../workloads/rest-workloads.ts";
import { createCannedResponses, toHttp } from "./canned-responses.ts";

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

/** Returns the complete HTTP response to a request; a promise if it must be computed. */
type Respond = (path: string, body: string) => Buffer | Promise<Buffer>;

const counts = { fetches: 0, computed: 0 };
let latenciesMs: SubgraphLatencies = {};

const subgraphUrls: Partial<Record<BenchmarkSubgraphName, string>> = {};
for (const name of subgraphNames) {
  const getCannedResponse = createCannedResponses(name, () => {
    counts.computed += 1;
  });
  const url = await listen((_path, body) => {
    counts.fetches += 1;
    const response = getCannedResponse(body);
    const latencyMs = latenciesMs[name];
    return latencyMs === undefined ? response : setTimeout(latencyMs).then(() => response);
  });
  subgraphUrls[name] = `${url}/graphql`;
}
const urls: BackendUrls = {
  subgraphUrls: subgraphUrls as SubgraphUrls,
  originUrl: await listen(createOrigin()),
  // An empty protobuf body reports that all spans were accepted (OTLP specification, "Full Success").
  collectorUrl: await listen(() => toHttp("", ["Content-Type: application/x-protobuf"])),
  jwksUrl: await listen(() => toHttp(publicKeys, ["Content-Type: application/json"])),
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

/** Resolves with the URL. */
async function listen(respond: Respond): Promise<string> {
  const server = createServer({ noDelay: true }, (socket) => serve(socket, respond));
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1_024 });
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Responses keep the order of the requests, because no contender pipelines. */
function serve(socket: Socket, respond: Respond): void {
  let path = "";
  let bodyPieces: Buffer[] = [];
  const read = createHttpReader({
    onHead(head) {
      const pathStart = head.indexOf(" ") + 1;
      path = head.slice(pathStart, head.indexOf(" ", pathStart));
      bodyPieces = [];
    },
    onBody: (bytes) => bodyPieces.push(bytes),
    onEnd() {
      const [firstPiece, secondPiece] = bodyPieces;
      const isOnePiece = firstPiece !== undefined && secondPiece === undefined;
      const body = isOnePiece ? firstPiece : Buffer.concat(bodyPieces);
      const response = respond(path, body.toString("latin1"));
      if (Buffer.isBuffer(response)) socket.write(response);
      else void response.then((bytes) => socket.write(bytes));
    },
  });
  socket.on("data", read);
  socket.on("error", () => socket.destroy());
}
