// The fast lane of /graphql: operations that the full lane has admitted, without Express and Apollo Server. It refuses nobody at the door: what
// it does not recognise goes on to the full lane, with all that was read of it. The hottest code of the house.
import type { IncomingMessage } from "node:http";
import { hasOneHost } from "@tributary/kit/http/host";
import type { Exchange } from "../admit/exchange.ts";
import { type AnswerType, preferAnswerType } from "../admit/negotiation.ts";
import type { BoundedMap } from "@tributary/kit/collections/bounded-map";
import { findSource, type GraphqlRequest, persistedHashOf } from "../parse/graphql-request.ts";
import type { Asked, Pipeline } from "../pipeline.ts";
import type { AdmittedOperation } from "../parse/validated-operation.ts";
import { refuse } from "../errors/rejections.ts";
import type { WriteAnswer } from "../shape/send-response.ts";
import type { Generations, Pinned } from "../supergraph/generations.ts";
import type { Observe } from "../telemetry/observation-log.ts";
import type { Received } from "./full.ts";

export interface FastLaneOptions {
  readonly pipeline: Pipeline;
  readonly generations: Generations;
  /** By hash: the texts that clients have registered. */
  readonly persistedQueries: BoundedMap<string>;
  readonly write: WriteAnswer;
  readonly observe: Observe;
  /** The full lane, behind Express. */
  readonly goOn: (exchange: Exchange, received?: Received) => void;
}

export type FastLane = (exchange: Exchange) => void;

export function createFastLane({ pipeline, generations, write, observe, goOn, ...o }: FastLaneOptions): FastLane {
  return (exchange) => {
    const answerType = recognise(exchange.request);
    if (answerType === undefined || generations.current?.admission.isWatched !== false) return goOn(exchange);
    pipeline.receive(exchange, (received) => {
      exchange.record?.enter("parse");
      if (received instanceof Error || !answerKnown(exchange, answerType, received)) goOn(exchange, received);
    });
  };

  /** False when the operation is not known. */
  function answerKnown(exchange: Exchange, answerType: AnswerType, graphql: GraphqlRequest): boolean {
    const source = registers(graphql) ? undefined : findSource(graphql, o.persistedQueries);
    const pinned = source === undefined ? undefined : generations.pin();
    if (source === undefined || pinned === undefined) return false;
    const known = pinned.generation.operations.find(source, graphql.operationName);
    if (known) void answer(pinned, known, { exchange, answerType, graphql });
    else pinned.release();
    return known !== undefined;
  }

  async function answer({ generation, release }: Pinned, known: AdmittedOperation, asked: Asked): Promise<void> {
    const { exchange, answerType } = asked;
    if (exchange.record) exchange.record.lane = "fast";
    try {
      write(exchange, await pipeline.answer(generation.engine, known, asked));
    } catch (error) {
      write(exchange, refuse(observe, exchange, answerType, error, known.identity));
    } finally {
      release();
    }
  }
}

/** The form of the answer, for a request that may be one of ours. Everybody else, and whoever is to be refused, goes on. */
function recognise(request: IncomingMessage): AnswerType | undefined {
  if (request.method !== "POST" || request.url !== "/graphql" || !hasOneHost(request)) return undefined;
  return preferAnswerType(request.headers.accept);
}

/** A persisted query that comes with its text is to be registered, and only the full lane does that. */
function registers(graphql: GraphqlRequest): boolean {
  return graphql.query !== undefined && persistedHashOf(graphql) !== undefined;
}
