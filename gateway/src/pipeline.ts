/*
 * READ FIRST. What happens to a request to /graphql, in order; each stage may refuse it.
 *
 *   1 admit   may you come in?   host, origin, method, media types, forged requests of foreign pages, body
 *   2 parse   what do you ask?   parameters; limits, syntax and validation, once for each document; operation; variables
 *   3 plan    how to answer?     \
 *   4 run     fetch it            > the engine of the generation that the request has pinned
 *   5 shape   say it             /  and then the wire
 *
 * Each stage costs more than those before it, so whoever is refused was refused cheaply: headers are read before a byte of a body is held, a
 * document is measured before it is validated, variables are read by a valid document's types, and nothing is planned or fetched
 * for a request that is not right in all its parts.
 *
 * Two lanes are put together from these functions and the stages' own; neither has a rule of its own. lanes/full.ts takes every request,
 * through Express and Apollo Server. lanes/fast.ts stands before it and takes the operations that the full lane has admitted already.
 */
import type { Engine, EngineAnswer } from "./supergraph-stages.ts";
import { parseJson, receiveBody } from "./admit/body.ts";
import type { Exchange } from "./admit/exchange.ts";
import type { AnswerType } from "./admit/negotiation.ts";
import type { AdmittedOperation } from "./parse/validated-operation.ts";
import { type GraphqlRequest, readGraphqlBody } from "./parse/graphql-request.ts";
import { findVariableProblems } from "./parse/operation.ts";
import { createDeadline } from "./run/deadline.ts";
import { createRequestScope } from "./run/request-scope.ts";
import { withQueryPlan, writeServerTiming } from "./shape/developer.ts";
import { contentTypeOf, refuse, refuseVariables, statusFor } from "./errors/rejections.ts";
import type { Answer } from "./shape/send-response.ts";
import type { Observe } from "./telemetry/observation-log.ts";

export interface PipelineOptions {
  /** Of a client's body, unpacked. */
  readonly graphqlBodyBytesMax: number;
  readonly requestTimeoutMs: number;
  /** Query plans for those who ask: development only. */
  readonly exposesPlans: boolean;
  readonly serverTiming: boolean;
  readonly observe: Observe;
}

/** A request whose operation is admitted. */
export interface Asked {
  readonly exchange: Exchange;
  readonly answerType: AnswerType;
  readonly graphql: GraphqlRequest;
}

export interface Pipeline {
  /** Stage 1 from the body on, and what stage 2 reads from it. `done` gets the parameters, or why there are none: a Refusal or a bug. */
  receive(exchange: Exchange, done: (received: GraphqlRequest | Error) => void): void;
  /** Stages 2 to 5 from the variables on. Refusals and bugs are answers too: it does not reject. */
  answer(engine: Engine, admitted: AdmittedOperation, asked: Asked): Promise<Answer>;
}

export function createPipeline(o: PipelineOptions): Pipeline {
  return {
    receive: ({ request }, done) =>
      receiveBody(request, o.graphqlBodyBytesMax, (body) => done(body instanceof Error ? body : readParameters(body))),

    answer(engine, admitted, asked) {
      const { exchange, answerType, graphql } = asked;
      if (exchange.record) exchange.record.admitted = admitted;
      const variables = graphql.variables ?? {};
      const problems = findVariableProblems(engine.apiSchema, admitted, variables);
      if (problems.length > 0) return Promise.resolve(refuseVariables(problems, answerType));
      return execute(engine, admitted, variables, asked);
    },
  };

  async function execute(
    engine: Engine,
    admitted: AdmittedOperation,
    variables: Readonly<Record<string, unknown>>,
    { exchange, answerType }: Asked,
  ): Promise<Answer> {
    const { request, response, requestId, trace, record } = exchange;
    const { identity } = admitted;
    const startedMs = o.serverTiming ? performance.now() : 0;
    const deadline = createDeadline(response, o.requestTimeoutMs, () =>
      o.observe({ kind: "client-gone", requestId, traceId: trace.traceId, ...identity }),
    );
    const { authorization } = request.headers;
    const isTimed = o.serverTiming;
    const scope = createRequestScope({ requestId, trace, identity, authorization, isTimed, deadline, record });
    try {
      const said = await engine.execute(admitted, variables, scope);
      const asksPlan = o.exposesPlans && request.headers["x-query-plan"] !== undefined;
      const body = asksPlan
        ? withQueryPlan(said.body, await engine.explain(admitted, variables, trace.traceId))
        : said.body;
      const headers = listTimings(said, startedMs - exchange.startedMs);
      const contentType = contentTypeOf(answerType);
      return { status: statusFor(said.status, answerType), contentType, headers, body, told: said.told };
    } catch (error) {
      return refuse(o.observe, exchange, answerType, error, identity);
    } finally {
      deadline.clear();
    }
  }
}

function readParameters(body: Buffer): GraphqlRequest | Error {
  try {
    return readGraphqlBody(parseJson(body));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const nothing: readonly string[] = [];

function listTimings({ timings }: EngineAnswer, parseMs: number): readonly string[] {
  return timings ? ["Server-Timing", writeServerTiming(parseMs, timings)] : nothing;
}
