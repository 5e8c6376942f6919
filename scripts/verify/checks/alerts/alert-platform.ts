// Starts the platform under test for alerts.ts, with a proxy that can respond in place of the comments service.
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { tmpdir } from "node:os";
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

/** Two replicas of posts, one of each other part, and seeded databases. */
export interface AlertPlatform extends Platform {
  /** Makes the proxy in front of comments respond with an error, with an HTML page, or forward to the service again. Prometheus scrapes directly. */
  setFault(fault: FaultyResponse | undefined): void;
  /** The file that the gateway reads: a copy of the repository's. */
  readonly supergraphCopy: string;
  readonly rateLimitStore: StoreServer;
  readonly graphqlUrl: string;
  readonly restUrl: string;
}

type OnCleanup = VerificationRun["onCleanup"];

export async function startAlertPlatform(storeProgram: string, onCleanup: OnCleanup): Promise<AlertPlatform> {
  const folder = mkdtempSync(join(tmpdir(), "tributary-verify-alerts-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const supergraphCopy = join(folder, "supergraph.graphql");
  copyFileSync(supergraphFile, supergraphCopy);
  const commentsPort = await pickFreePort();
  const faultProxy = await startFaultProxy(commentsPort, onCleanup);
  const rateLimitStore = await startStoreServer(storeProgram);
  onCleanup(() => rateLimitStore.kill());
  // A limit that one client exceeds quickly. The regular traffic has no `X-Forwarded-For`, so its address is 127.0.0.1, which is exempt by default.
  const rateLimits = {
    RATE_LIMIT_STORE_URL: rateLimitStore.url,
    RATE_LIMIT_READS_PER_MINUTE: "60",
    TRUSTED_PROXIES: "127.0.0.1",
  };
  const platform = await startPlatform({
    run: { onCleanup },
    isSeeded: true,
    replicas: { ...replicasOfEachPart(1), posts: 2 },
    environment(part) {
      if (part === "gateway") return { ...rateLimits, SUPERGRAPH_FILE: supergraphCopy };
      return part === "rest-proxy" ? rateLimits : {};
    },
    place: {
      comments: async (start) => ({ replicas: [await start({ port: commentsPort })], urls: [faultProxy.url] }),
    },
  });
  return {
    ...platform,
    setFault: faultProxy.setFault,
    supergraphCopy,
    rateLimitStore,
    graphqlUrl: replicaOf(platform, "gateway").url,
    restUrl: replicaOf(platform, "rest-proxy").url,
  };
}

interface FaultyResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Starts a proxy in front of a service that can respond in the service's place. */
async function startFaultProxy(servicePort: number, onCleanup: OnCleanup) {
  const agent = new Agent({ keepAlive: true });
  let fault: FaultyResponse | undefined;
  const server = createServer((clientRequest, response) => {
    if (fault) {
      clientRequest.resume();
      response.writeHead(fault.status, { "content-type": fault.contentType }).end(fault.body);
      return;
    }
    const { method, url: path, headers } = clientRequest;
    const forwarded = request(
      { hostname: "127.0.0.1", port: servicePort, path, method, headers, agent },
      (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.on("error", () => response.destroy()).pipe(response);
      },
    );
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    clientRequest.pipe(forwarded);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFault: (newFault: FaultyResponse | undefined) => void (fault = newFault),
  };
}
