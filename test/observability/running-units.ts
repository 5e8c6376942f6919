import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pickFreePort } from "../../kit/src/process/free-port.ts";
import type { TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type PartFolder, type PartProcess, startProcess } from "../../scripts/verify/platform/part-process.ts";
import { startObservedService } from "../telemetry/observed-process.ts";
import { type Exposition, readExposition } from "./exposition.ts";

/**
 * The users service, the gateway, the REST proxy and the purger as processes with metrics. The second replica of users and the one of posts refuse
 * connections, comments is a stub, and the host name of orders does not resolve. All three follow the change feed of users.
 */
export interface RunningUnits {
  readonly usersUrl: string;
  readonly gatewayUrl: string;
  readonly restUrl: string;
  setComments(behaviour: StubBehaviour): void;
  /** Resolves when the comments service receives a request to which it will not respond. */
  ignoredRequest(): Promise<unknown>;
  /** Reads the metrics of each process. */
  read(): Promise<readonly Exposition[]>;
  stop(): Promise<void>;
}

export interface UnitsOptions {
  readonly postgresUrl: string;
  readonly issuer: TestIssuer;
}

export async function startUnits({ postgresUrl, issuer }: UnitsOptions): Promise<RunningUnits> {
  // No collector listens there: other tests check the traces.
  const users = await startObservedService("users", { postgresUrl, issuer, collectorUrl: "http://127.0.0.1:9" });
  const comments = await startCommentsStub();
  const unreachable = `http://127.0.0.1:${await pickFreePort()}`;
  const addresses = {
    USERS: [users.url, unreachable],
    POSTS: [unreachable],
    COMMENTS: [comments.url],
    ORDERS: ["http://orders.invalid:4004"],
  };
  const cache = await startCacheStub();
  const [gateway, rest, purger] = await Promise.all([
    startEntryPoint("gateway", {
      SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
      SETTINGS_FILE: "supergraph/gateway.yaml",
      ...variables(addresses, (name) => `SUBGRAPH_URL_${name}`, "/graphql"),
      ENTITY_CACHE_USERS: "on",
      SUBGRAPH_FEED_URL_USERS: users.feedUrl,
    }),
    startEntryPoint("rest-proxy", {
      ...variables(addresses, (name) => `${name}_URL`, ""),
      USERS_FEED_URL: users.feedUrl,
      ORDERS_FEED_URL: "none",
    }),
    startEntryPoint("infra/purger", { SERVICES: "users", USERS_FEED_URL: users.feedUrl, PURGE_URL: cache.url }),
  ]);
  const admins = [users.adminUrl, gateway.adminUrl, rest.adminUrl, purger.adminUrl];
  return {
    usersUrl: users.url,
    gatewayUrl: gateway.process.url,
    restUrl: rest.process.url,
    setComments: comments.setBehaviour,
    ignoredRequest: comments.ignoredRequest,
    read: () => Promise.all(admins.map(readMetrics)),
    stop: async () =>
      void (await Promise.all([
        users.stop(),
        gateway.process.end("SIGTERM"),
        rest.process.end("SIGTERM"),
        purger.process.end("SIGTERM"),
        comments.stop(),
        cache.stop(),
      ])),
  };
}

async function readMetrics(adminUrl: string): Promise<Exposition> {
  return readExposition(await (await fetch(`${adminUrl}/metrics`)).text());
}

/** One environment variable for each service, with its addresses. */
function variables(
  addresses: Readonly<Record<string, readonly string[]>>,
  toName: (service: string) => string,
  path: string,
): Readonly<Record<string, string>> {
  const entries = Object.entries(addresses);
  return Object.fromEntries(
    entries.map(([name, urls]) => [toName(name), urls.map((url) => `${url}${path}`).join(",")]),
  );
}

/**
 * - "healthy": finds no comment.
 * - "failing": closes the connection of each request.
 * - "broken": declares a long body, sends a part of it and closes the connection; does not respond to a DELETE request.
 */
type StubBehaviour = "healthy" | "failing" | "broken";

async function startCommentsStub() {
  let behaviour: StubBehaviour = "healthy";
  const server = createServer((request, response) => {
    if (behaviour === "failing") request.socket.destroy();
    else if (behaviour === "healthy") respond(request, response);
    else if (request.method === "DELETE") server.emit("request ignored");
    else if (request.url === "/graphql") response.end('{"data":{"_entities":{}}}');
    else {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100000" });
      response.write('{"data":', () => response.socket?.end());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setBehaviour: (next: StubBehaviour) => void (behaviour = next),
    ignoredRequest: () => once(server, "request ignored"),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function respond({ method }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(method === "POST" ? 200 : 404, { "content-type": "application/json" });
  response.end(method === "POST" ? '{"data":{"comment":null}}' : '{"status":404}');
}

/** A cache that accepts every purge. */
async function startCacheStub() {
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The gateway, the REST proxy or the purger, as a separate process. */
interface EntryPoint {
  readonly process: PartProcess;
  readonly adminUrl: string;
}

async function startEntryPoint(folder: PartFolder, settings: Readonly<Record<string, string>>): Promise<EntryPoint> {
  const [port, adminPort] = [await pickFreePort(), await pickFreePort()];
  const environment = {
    ...settings,
    LOG_LEVEL: "warn",
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    KNOWN_CLIENTS: "web",
  };
  const process = await startProcess(folder, `http://127.0.0.1:${port}`, { environment });
  return { process, adminUrl: `http://127.0.0.1:${adminPort}` };
}
