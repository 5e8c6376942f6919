import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { writeProblem } from "@tributary/kit/http/problem";
import { collectBody } from "@tributary/kit/http/receive-body";
import { readRequestId } from "@tributary/kit/http/request-id";
import type { Log } from "@tributary/kit/process/log";
import { findRoutePath, type RestPaths } from "../../../supergraph/contract/rest-paths.ts";
import type { SubgraphOperation, SubgraphResult } from "./graphql-messages.ts";

export type SubgraphExecutor = (
  operation: SubgraphOperation,
  o: { readonly headers: IncomingHttpHeaders; readonly signal: AbortSignal },
) => SubgraphResult | Promise<SubgraphResult>;

/** @param o `path` is one of the REST proxy, such as `/v2/posts?limit=1`. */
export type RestForwarder = (
  request: IncomingMessage,
  response: ServerResponse,
  o: { readonly path: string; readonly body: Buffer; readonly signal: AbortSignal },
) => void | Promise<void>;

export interface SubstituteOptions {
  readonly execute: SubgraphExecutor;
  /** Undefined: every REST request gets a 503. */
  readonly forwardRest: RestForwarder | undefined;
  readonly restPaths: RestPaths;
  readonly log: Log;
}

/** A safeguard for this process's memory: bodies come from the gateway and the REST proxy, which have limits for those of clients. */
const bodyBytesMax = 4_194_304;

export function createSubstituteHandler(o: SubstituteOptions): RequestListener {
  return (request, response) => {
    respond(request, response, o).catch((error: unknown) => {
      if (response.destroyed) return; // The client has disconnected.
      if (!(error instanceof AppError)) o.log.error({ err: error }, "request failed");
      const problem = error instanceof AppError ? error : new AppError("INTERNAL_SERVER_ERROR", "Internal error.");
      const requestId = readRequestId(request.headers["x-request-id"]);
      writeProblem(response, problem, { instance: request.url?.split("?", 1)[0], requestId });
    });
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, o: SubstituteOptions): Promise<void> {
  const { url = "/", headers } = request;
  const disconnected = new AbortController();
  response.once("close", () => disconnected.abort());
  const { signal } = disconnected;
  const body = await collectBody(request, bodyBytesMax);
  const [path = ""] = url.split("?", 1);
  if (path === "/graphql") {
    const { data, errors } = await o.execute(JSON.parse(body.toString()) as SubgraphOperation, { headers, signal });
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(errors.length > 0 ? { errors, data } : { data }));
    return;
  }
  const route = findRoutePath(path, o.restPaths);
  if (!route) throw new AppError("NOT_FOUND", "There is nothing at this path.");
  if (!o.forwardRest)
    throw new AppError(
      "SERVICE_UNAVAILABLE",
      "This service does not run here, and npm start has no --against-rest. Send this request to the REST proxy of the remote.",
    );
  // Without a version in the path, the newest one.
  const proxyPath = `/v${route.versions.at(-1)}${route.path}${url.slice(path.length)}`;
  await o.forwardRest(request, response, { path: proxyPath, body, signal });
}
