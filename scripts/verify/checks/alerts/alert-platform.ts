// Starts the platform under test for alerts.ts, with a proxy that can respond in place of the comments service, and with Prometheus and Alertmanager.
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { startStoreServer, type StoreServer } from "@tributary/kit/testing/store-server";
import {
  type Platform,
  replicaOf,
  replicasOfEachPart,
  startPlatform,
  supergraphFile,
} from "../../platform/platform.ts";
import type { VerificationRun } from "../../verification.ts";
import type { MonitoringPrograms } from "./monitoring-programs.ts";
import { type Monitoring, startMonitoring } from "./monitoring.ts";
import { type NotificationReceiver, startNotificationReceiver } from "./notification-receiver.ts";

/** Two replicas of posts, one of each other part, and seeded databases. */
export interface AlertPlatform extends Platform {
  /** The proxy in front of comments. Prometheus scrapes comments directly. */
  readonly faultProxy: FaultProxy;
  /** The file that the gateway reads: a copy of the repository's. */
  readonly supergraphCopy: string;
  readonly rateLimitStore: StoreServer;
  readonly graphqlUrl: string;
  readonly restUrl: string;
}

export interface MonitoredPlatform {
  readonly platform: AlertPlatform;
  readonly monitoring: Monitoring;
  readonly receiver: NotificationReceiver;
}

export interface MonitoredPlatformOptions {
  readonly run: Pick<VerificationRun, "onCleanup">;
  readonly programs: MonitoringPrograms;
  readonly logs: string | undefined;
  /** Prometheus' intervals are divided by it. */
  readonly factor: number;
}

/** Starts the platform and its monitoring. They are stopped when the verification ends. */
export async function startMonitoredPlatform(o: MonitoredPlatformOptions): Promise<MonitoredPlatform> {
  const { run, programs, logs, factor } = o;
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-alerts-"));
  run.onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const platform = await startAlertPlatform(folder, o);
  const receiver = await startNotificationReceiver();
  run.onCleanup(() => receiver.stop());
  const targets: Record<string, readonly string[]> = {};
  for (const [part, replicas] of Object.entries(platform.replicas)) targets[part] = replicas.map(({ admin }) => admin);
  const monitoring = await startMonitoring({
    run,
    programs,
    folder,
    logs,
    targets,
    receiverUrl: receiver.url,
    factor,
  });
  return { platform, monitoring, receiver };
}

async function startAlertPlatform(
  folder: string,
  { run, programs, logs }: MonitoredPlatformOptions,
): Promise<AlertPlatform> {
  const supergraphCopy = join(folder, "supergraph.graphql");
  copyFileSync(supergraphFile, supergraphCopy);
  const commentsPort = await pickFreePort();
  const faultProxy = await startFaultProxy(commentsPort);
  run.onCleanup(() => faultProxy.stop());
  const rateLimitStore = await startStoreServer(programs.store);
  run.onCleanup(() => rateLimitStore.kill());
  const platform = await startPlatform({
    run,
    logs,
    isSeeded: true,
    replicas: { ...replicasOfEachPart(1), posts: 2 },
    environment(part) {
      if (part === "gateway") return { ...rateLimits(rateLimitStore), SUPERGRAPH_FILE: supergraphCopy };
      if (part === "rest-proxy") return rateLimits(rateLimitStore);
      return {};
    },
    place: {
      comments: async (start) => ({ replicas: [await start({ port: commentsPort })], urls: [faultProxy.url] }),
    },
  });
  const graphqlUrl = replicaOf(platform, "gateway").url;
  const restUrl = replicaOf(platform, "rest-proxy").url;
  return { ...platform, faultProxy, supergraphCopy, rateLimitStore, graphqlUrl, restUrl };
}

/**
 * A limit that one client exceeds quickly. The regular traffic has no `X-Forwarded-For`, so its address is 127.0.0.1, which is exempt by default
 * (RATE_LIMIT_EXEMPT).
 */
function rateLimits({ url }: StoreServer) {
  return { RATE_LIMIT_STORE_URL: url, RATE_LIMIT_READS_PER_MINUTE: "60", TRUSTED_PROXIES: "127.0.0.1" };
}

/** The source of a response: the service, an error with status 500, or an HTML page with status 200. */
type FaultProxyMode = "service" | "500" | "html";

/** A proxy in front of a service that can respond in the service's place. */
interface FaultProxy {
  readonly url: string;
  /** Sets the mode of the next responses. */
  respondWith(mode: FaultProxyMode): void;
  stop(): Promise<void>;
}

async function startFaultProxy(servicePort: number): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true });
  let mode: FaultProxyMode = "service";
  const server = createServer((clientRequest, response) => {
    if (mode === "service") return forward(servicePort, agent, clientRequest, response);
    clientRequest.resume();
    if (mode === "500") response.writeHead(500, { "content-type": "application/problem+json" }).end('{"status":500}');
    else response.writeHead(200, { "content-type": "text/html" }).end("<h1>It works!</h1>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    respondWith(newMode) {
      mode = newMode;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      agent.destroy();
    },
  };
}

function forward(port: number, agent: Agent, clientRequest: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = clientRequest;
  const options = { hostname: "127.0.0.1", port, path, method, headers, agent };
  const upstreamRequest = request(options, (upstreamResponse) => {
    const { connection: _connection, "keep-alive": _keepAlive, ...endToEndHeaders } = upstreamResponse.headers;
    response.writeHead(upstreamResponse.statusCode ?? 502, endToEndHeaders);
    upstreamResponse.on("error", () => response.destroy()).pipe(response);
  });
  upstreamRequest.on("error", () => response.destroy());
  response.on("close", () => upstreamRequest.destroy());
  clientRequest.pipe(upstreamRequest);
}
