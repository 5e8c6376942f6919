// The full lane of /graphql: it takes every request there is. Express stands before it, Apollo Server admits what it asks.
import type { IncomingMessage } from "node:http";
import { refuseCrossSite } from "../admit/csrf.ts";
import type { Exchange } from "../admit/exchange.ts";
import { type AnswerType, preferAnswerType } from "../admit/negotiation.ts";
import { Refusal } from "../errors/codes.ts";
import { type GraphqlRequest, readGraphqlSearch } from "../parse/graphql-request.ts";
import type { Pipeline } from "../pipeline.ts";
import { refuse } from "../errors/rejections.ts";
import type { Answer, WriteAnswer } from "../shape/send-response.ts";
import type { Generations } from "../supergraph/generations.ts";
import type { Observe } from "../telemetry/observation-log.ts";
import type { Question } from "../supergraph/apollo-validation.ts";

export interface FullLaneOptions {
  readonly pipeline: Pipeline;
  readonly generations: Generations;
  readonly write: WriteAnswer;
  readonly observe: Observe;
}

/** What the fast lane has read of a request before it let it go on: no byte is read twice. */
export type Received = GraphqlRequest | Error;

export type FullLane = (exchange: Exchange, received?: Received) => Promise<void>;

export function createFullLane({ pipeline, generations, write, observe }: FullLaneOptions): FullLane {
  return async (exchange, received) => {
    const { request, record } = exchange;
    if (record) record.lane = "full";
    let answerType: AnswerType = "application/json";
    try {
      const method = readMethod(request);
      answerType = requireAnswerType(request);
      const graphql = method === "GET" ? readGet(request) : await readPost(exchange, received);
      record?.enter("parse");
      if (record) record.requestedName = graphql.operationName;
      write(exchange, await answer(exchange, { method, answerType, graphql }));
    } catch (error) {
      write(exchange, refuse(observe, exchange, answerType, error));
    }
  };

  function readPost(exchange: Exchange, received: Received | undefined): Promise<GraphqlRequest> {
    return new Promise((resolve, reject) => {
      const done = (asked: Received) => (asked instanceof Error ? reject(asked) : resolve(asked));
      if (received === undefined) pipeline.receive(exchange, done);
      else done(received);
    });
  }

  /** On one generation from start to end. */
  async function answer(exchange: Exchange, question: Question): Promise<Answer> {
    const pinned = generations.pin();
    if (!pinned) throw new Refusal("SERVICE_UNAVAILABLE", undefined, { "Retry-After": "1" });
    const { admission, engine } = pinned.generation;
    try {
      return await admission.admit(question, (admitted) =>
        pipeline.answer(engine, admitted, { exchange, ...question }),
      );
    } finally {
      pinned.release();
    }
  }
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

function readGet(request: IncomingMessage): GraphqlRequest {
  refuseCrossSite(request.headers);
  const { url = "/" } = request;
  const question = url.indexOf("?");
  return readGraphqlSearch(new URLSearchParams(question === -1 ? "" : url.slice(question)));
}
