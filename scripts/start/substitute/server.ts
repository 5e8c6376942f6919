import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { type AbortSignalLike, createDisconnectSignal } from "@tributary/kit/http/abort-source";
import { writeProblem } from "@tributary/kit/http/problem";
import { readRequestId } from "@tributary/kit/http/request-id";
import type { Log } from "@tributary/kit/process/log";
import { findRoutePath, type RestPaths } from "../../../supergraph/contract/rest-paths.ts";
import { failedResult, readOperation, type SubgraphOperation, type SubgraphResult } from "./graphql-messages.ts";

export type SubgraphExecutor = (
  operation: SubgraphOperation,
  o: { readonly headers: IncomingHttpHeaders; readonly signal: AbortSignalLike },
) => Promise<SubgraphResult>;

export interface RestForwarder {
  /** @param request for a path of the REST proxy, such as `/v2/posts`. */
  forward(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void>;
}

export interface SubstituteOptions {
  readonly execute: SubgraphExecutor;
  /** Undefined: every REST request gets a 503 with `restReason`. */
  readonly rest: RestForwarder | undefined;
  readonly restReason: string;
  readonly restPaths: RestPaths;
  readonly log: Log;
}

/** A safeguard for this process's memory: bodies come from the gateway and the REST proxy, which have limits for those of clients. */
const bodyBytesMax = 4_194_304;

export function createSubstituteHandler(o: SubstituteOptions): RequestListener {
  return (request, response) => {
    respond(request, response, o).catch((error: unknown) => {
      if (response.destroyed) return; // The client has disconnected.
      if (error instanceof AppError) return sendProblem(request, response, error);
      o.log.error({ err: error }, "request failed");
      sendProblem(request, response, new AppError("INTERNAL_SERVER_ERROR", "Internal error."));
    });
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, o: SubstituteOptions): Promise<void> {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  const isGraphql = path === "/graphql";
  const route = isGraphql ? undefined : findRoutePath(path, o.restPaths);
  if (!isGraphql && !route) throw new AppError("NOT_FOUND", "There is nothing at this path.");
  if (isGraphql && request.method !== "POST") throw new AppError("METHOD_NOT_ALLOWED", "Send a POST request.");
  const body = await readBytes(request);
  if (!route) return respondToOperation(request, response, body, o.execute);
  if (!o.rest) throw new AppError("SERVICE_UNAVAILABLE", o.restReason);
  // Without a version in the path, the newest one.
  request.url = `/v${route.versions.at(-1)}${route.path}${request.url?.slice(path.length) ?? ""}`;
  await o.rest.forward(request, response, body);
}

async function respondToOperation(
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  execute: SubgraphExecutor,
): Promise<void> {
  const operation = readOperation(body.toString());
  const { data, errors } = operation
    ? await execute(operation, { headers: request.headers, signal: createDisconnectSignal(response) })
    : failedResult("MALFORMED_REQUEST", "The body is not a GraphQL request.");
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(errors.length > 0 ? { errors, data } : { data }));
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytesMax) throw new AppError("PAYLOAD_TOO_LARGE", `A body has at most ${bodyBytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sendProblem(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  const requestId = readRequestId(request.headers["x-request-id"]);
  writeProblem(response, error, { instance: request.url?.split("?", 1)[0], requestId });
}
