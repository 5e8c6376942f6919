import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { HeldRejections } from "@tributary/kit/admission/held-rejections";
import type { IncompleteRequests } from "@tributary/kit/http/incomplete-requests";
import { limitConnections } from "@tributary/kit/caller/connection-limit";
import type { ProcessState } from "@tributary/kit/process/process-status";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import { prepareServer } from "./admit/connections.ts";
import { openExchange } from "./admit/exchange.ts";
import { handleRequest } from "./pipeline.ts";
import { reportUsage } from "./route/usage.ts";
import { createStages, type RestProxyOptions } from "./stages.ts";
import type { UsageCount } from "./telemetry/observations.ts";

export interface RestProxy {
  readonly handler: RequestListener;
  readonly incompleteRequests: IncompleteRequests;
  readonly heldRejections: HeldRejections;
  /** Of a response that the listener sends itself, as a raw list: so that pages can read it. */
  overloadedHeaders(request: IncomingMessage): readonly string[];
  /** Limits connections, and sets how the server handles `Expect` and input that is not valid HTTP. Call it before the server listens. */
  prepare(server: Server, pendingResponses: PendingResponses): void;
  /** Requests for versions older than the newest, since the start of the process. For tests: the process itself logs these counts every hour. */
  usage(): readonly UsageCount[];
  readState(): ProcessState;
  /** Reports the usage of old versions, aborts background requests and closes the connections to the services. Call it after the last response. */
  close(): Promise<void>;
}

/** The proxy as a request listener and server hooks, which `main.ts` passes to `startServer`. `pipeline.ts` handles the requests. */
export function createRestProxy(options: RestProxyOptions): RestProxy {
  const { config, observe, observers } = options;
  const stages = createStages(options);
  const stopReports = reportUsage(stages.usage, (counts) => observe({ kind: "old-versions", usage: counts }));

  return {
    handler(request, response) {
      handleRequest(openExchange(request, response, observers?.requests), stages);
    },
    incompleteRequests: stages.incompleteRequests,
    heldRejections: stages.heldRejections,
    overloadedHeaders: ({ headers }) => stages.cors.headersFor(headers.origin),
    prepare(server, pendingResponses) {
      const unlimited = [...config.callerConfig.trustedProxies, ...config.rateLimitConfig.exempt];
      limitConnections(server, { unlimited, observe });
      prepareServer(server, { observe, charges: stages.charges, pendingResponses });
    },
    usage: () => stages.usage.read(),
    readState: stages.readState,
    async close() {
      stopReports();
      // The cache first: the services' connections close only when its background requests have ended.
      await stages.cache.close();
      await Promise.all([stages.services.close(), stages.feeds.close()]);
      stages.admission.close();
      await stages.callerLimits.close();
    },
  };
}
