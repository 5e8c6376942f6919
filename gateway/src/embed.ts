// The main module of the package: a gateway in a program that has its own HTTP server. The package's declarations are made of this file alone, so
// its types name only those of Node.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createPendingResponseList } from "@tributary/kit/process/pending-responses";
import { readStatus } from "@tributary/kit/process/process-status";
import { assembleGateway } from "./assembly.ts";

/** At most one of `supergraphFile` and `supergraphUrl`. Without them, `settingsFile` or `variables` has to name the supergraph. */
export interface EmbeddingOptions {
  /** The path of the supergraph's file. It is watched: a changed supergraph is loaded while the present one serves. */
  readonly supergraphFile?: string | undefined;
  /** The http(s) URL of the supergraph. It is requested every 2 s (`SUPERGRAPH_POLL_MS`) with its ETag. */
  readonly supergraphUrl?: string | undefined;
  /** The path of gateway.yaml. It is watched, and takes effect without a restart. */
  readonly settingsFile?: string | undefined;
  /**
   * Environment variables of the gateway, such as `{ PROFILE: "production", PLAN_TIMEOUT_MS: "2000", ADMIN_PORT: "9464" }`. README.md lists them with
   * unit, range and default. Those of the listener (`PORT`, `HOST`, `DRAIN_DELAY_MS`, `SHUTDOWN_GRACE_MS`, `REQUESTS_IN_FLIGHT_MAX`) have no effect.
   * Default `{}`: the variables of the process are read only if the program passes `process.env`.
   */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface EmbeddedGateway {
  /**
   * Handles `/graphql`, `/graphql/<id>`, `/schema.graphql`, `/graphiql/…` and `/`; any other path is 404. It reads the body of the request and its
   * URL, so it comes before body parsers, and behind a router that leaves the URL as it is. In Express:
   * `app.all(["/graphql{/:id}", "/graphiql/*path", "/schema.graphql"], gateway.handler)`.
   * Never throws.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** False until a supergraph is loaded. Until then `/graphql` responds with 503. */
  isReady(): boolean;
  /**
   * Waits for the responses to complete requests, which takes at most `REQUEST_TIMEOUT_MS` and `RESPONSE_TIMEOUT_MS`. Then ends the threads, watchers
   * and connections of the gateway. Call it after the server's own `close`, which ends the listener.
   */
  close(): Promise<void>;
}

/**
 * Starts the planner threads and begins to load the supergraph, for which it does not wait. The log is JSON lines on standard output (`LOG_LEVEL`).
 * @throws Error (`problems`: a list of texts) that names every invalid option, variable and setting.
 */
export async function createGateway(options: EmbeddingOptions): Promise<EmbeddedGateway> {
  const { supergraphFile, supergraphUrl, settingsFile, variables } = options;
  const { gateway, admin, close } = await assembleGateway({
    ...variables,
    ...(supergraphFile !== undefined && { SUPERGRAPH_FILE: supergraphFile }),
    ...(supergraphUrl !== undefined && { SUPERGRAPH_URL: supergraphUrl }),
    ...(settingsFile !== undefined && { SETTINGS_FILE: settingsFile }),
  });
  const readiness = () => Promise.resolve({ status: gateway.isReady() ? ("ready" as const) : ("not ready" as const) });
  admin?.reportReadiness(readiness);
  admin?.reportStatus(() => readStatus("gateway", readiness, gateway.readState));
  const pendingResponses = createPendingResponseList();
  let closed: Promise<void> | undefined;

  async function closeOnce(): Promise<void> {
    pendingResponses.closeConnections();
    await pendingResponses.settled();
    await close();
  }

  return {
    handler(request, response) {
      pendingResponses.add(response);
      gateway.handler(request, response);
    },
    isReady: gateway.isReady,
    close: () => (closed ??= closeOnce()),
  };
}
