import type { IncomingMessage, ServerResponse } from "node:http";
import { readJsonBody } from "../admit/body.ts";
import { refuseCrossSite } from "../admit/csrf.ts";
import { type AnswerType, preferAnswerType } from "../admit/negotiation.ts";
import type { TraceContext } from "@tributary/kit/trace-context";
import { Refusal } from "../errors.ts";
import { type GraphqlRequest, readGraphqlBody, readGraphqlSearch } from "../parse/graphql-request.ts";
import { createDeadline } from "../run/deadline.ts";
import { createRequestScope } from "../run/request-scope.ts";
import { type Answer, cutSlowReader, toAnswer, writeAnswer } from "../shape/write.ts";
import type { Generations } from "../supergraph/generations.ts";
import type { Observe } from "../telemetry/observations.ts";

export interface FullLaneOptions {
  readonly generations: Generations;
  readonly bodyBytesMax: number;
  readonly requestTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly observe: Observe;
}

export interface Caller {
  readonly requestId: string;
  readonly trace: TraceContext;
}

type Lane = (request: IncomingMessage, response: ServerResponse, caller: Caller) => Promise<void>;

/**
 * The full lane of `/graphql`: admit, parse, then Apollo Server over the generation that is current once the request is read.
 * It takes every request there is; the fast lane will stand before it.
 */
export function createFullLane(o: FullLaneOptions): Lane {
  return async (request, response, caller) => {
    let answerType: AnswerType = "application/json";
    response.appendHeader("Vary", "Accept");
    try {
      const method = readMethod(request);
      answerType = requireAnswerType(request);
      const graphql = await readGraphql(request, method, o.bodyBytesMax);
      const answer = await answerWithin(o, request, response, caller, { method, answerType, graphql });
      await writeAnswer(request, response, answer);
    } catch (error) {
      await writeAnswer(request, response, refuse(o.observe, caller, answerType, error));
    }
    const { requestId } = caller;
    cutSlowReader(response, o.responseTimeoutMs, () => o.observe({ kind: "answer-cut", requestId }));
  };
}

function readMethod({ method }: IncomingMessage): "GET" | "POST" {
  if (method === "GET" || method === "POST") return method;
  throw new Refusal("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, POST, OPTIONS" });
}

function requireAnswerType(request: IncomingMessage): AnswerType {
  const type = preferAnswerType(request.headers.accept);
  if (type === undefined)
    throw new Refusal("NOT_ACCEPTABLE", "Accept application/json or application/graphql-response+json.");
  return type;
}

async function readGraphql(
  request: IncomingMessage,
  method: "GET" | "POST",
  bodyBytesMax: number,
): Promise<GraphqlRequest> {
  if (method === "POST") return readGraphqlBody(await readJsonBody(request, bodyBytesMax));
  refuseCrossSite(request.headers);
  const { url = "/" } = request;
  const question = url.indexOf("?");
  return readGraphqlSearch(new URLSearchParams(question === -1 ? "" : url.slice(question)));
}

/** Runs the operation on one pinned generation, until the deadline passes or the client goes away. */
async function answerWithin(
  { generations, requestTimeoutMs, observe }: FullLaneOptions,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, trace }: Caller,
  asked: { method: "GET" | "POST"; answerType: AnswerType; graphql: GraphqlRequest },
): Promise<Answer> {
  const pinned = generations.pin();
  if (!pinned) throw new Refusal("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
  const deadline = createDeadline(requestTimeoutMs, "late");
  const leave = () => {
    if (response.writableFinished) return;
    deadline.end("gone");
    observe({ kind: "client-gone", requestId });
  };
  // The client may have left while its body was unpacked.
  if (response.closed) leave();
  else response.once("close", leave);
  try {
    const { authorization } = request.headers;
    const scope = createRequestScope({ requestId, trace, authorization, signal: deadline.signal });
    return await pinned.lane.answer({ ...asked, scope });
  } finally {
    response.off("close", leave);
    deadline.clear();
    pinned.release();
  }
}

/** What a client reads when the whole request is refused. A bug is masked. */
export function refuse(
  observe: Observe,
  { requestId }: Pick<Caller, "requestId">,
  answerType: AnswerType,
  error: unknown,
): Answer {
  if (error instanceof Refusal) {
    observe({ kind: "request-refused", requestId, code: error.code, status: error.status });
    return toAnswer(error, answerType);
  }
  observe({ kind: "internal-error", requestId, cause: error });
  return toAnswer(new Refusal("INTERNAL_SERVER_ERROR"), answerType);
}
