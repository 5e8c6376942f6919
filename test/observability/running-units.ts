import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pickFreePort } from "../../kit/src/process/free-port.ts";
import type { TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type PartFolder, type PartProcess, startProcess } from "../../scripts/verify/platform/part-process.ts";
import { startObservedService } from "../telemetry/observed-process.ts";
import { type Exposition, readExposition } from "./exposition.ts";

/**
 * The users service, the gateway and the REST proxy as processes with metrics. The second replica of users and the one of posts refuse
 * connections, comments sends incomplete or invalid responses or none, and the host name of orders does not resolve.
 */
export interface RunningUnits {
  readonly usersUrl: string;
  readonly gatewayUrl: string;
  readonly restUrl: string;
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
  const broken = await startBrokenService();
  const unreachable = `http://127.0.0.1:${await pickFreePort()}`;
  const addresses = {
    USERS: [users.url, unreachable],
    POSTS: [unreachable],
    COMMENTS: [broken.url],
    ORDERS: ["http://orders.invalid:4004"],
  };
  const gateway = await startEntryPoint("gateway", {
    SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
    ...variables(addresses, (name) => `SUBGRAPH_URL_${name}`, "/graphql"),
  });
  const rest = await startEntryPoint(
    "rest-proxy",
    variables(addresses, (name) => `${name}_URL`, ""),
  );
  const admins = [users.adminUrl, gateway.adminUrl, rest.adminUrl];
  return {
    usersUrl: users.url,
    gatewayUrl: gateway.process.url,
    restUrl: rest.process.url,
    ignoredRequest: broken.ignoredRequest,
    read: () => Promise.all(admins.map(readMetrics)),
    stop: async () =>
      void (await Promise.all([
        users.stop(),
        gateway.process.end("SIGTERM"),
        rest.process.end("SIGTERM"),
        broken.stop(),
      ])),
  };
}

export async function readMetrics(adminUrl: string): Promise<Exposition> {
  return readExposition(await (await fetch(`${adminUrl}/metrics`)).text());
}

/** One environment variable for each service, with its addresses. */
export function variables(
  addresses: Readonly<Record<string, readonly string[]>>,
  toName: (service: string) => string,
  path: string,
): Readonly<Record<string, string>> {
  const entries = Object.entries(addresses);
  return Object.fromEntries(
    entries.map(([name, urls]) => [toName(name), urls.map((url) => `${url}${path}`).join(",")]),
  );
}

/** Declares a long body, sends a part of it and closes the connection. Does not respond to a DELETE request. */
async function startBrokenService() {
  const server = createServer((request, response) => {
    if (request.method === "DELETE") return void server.emit("request ignored");
    if (request.url === "/graphql") return void response.end('{"data":{"_entities":{}}}');
    response.writeHead(200, { "content-type": "application/json", "content-length": "100000" });
    response.write('{"data":', () => response.socket?.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ignoredRequest: () => once(server, "request ignored"),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The gateway or the REST proxy, as a separate process. */
export interface EntryPoint {
  readonly process: PartProcess;
  readonly adminUrl: string;
}

export async function startEntryPoint(
  folder: PartFolder,
  addresses: Readonly<Record<string, string>>,
): Promise<EntryPoint> {
  const [port, adminPort] = [await pickFreePort(), await pickFreePort()];
  const environment = {
    ...addresses,
    LOG_LEVEL: "warn",
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    KNOWN_CLIENTS: "web",
  };
  const process = await startProcess(folder, `http://127.0.0.1:${port}`, { environment });
  return { process, adminUrl: `http://127.0.0.1:${adminPort}` };
}
