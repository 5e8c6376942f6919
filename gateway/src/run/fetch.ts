// Stage 4 of 5: fetch it. One request to one subgraph, and its answer read.
import { createTraceParent } from "@tributary/kit/http/trace-context";
import type { AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { FetchObserver } from "../telemetry/fetch-observer.ts";
import type { Sharing } from "./fetch-sharing.ts";
import type { RequestScope } from "./request-scope.ts";
import { type AskedAnswer, readSubgraphAnswer } from "./subgraph-response.ts";
import { endedReply, type SubgraphClient } from "./subgraph-client.ts";

interface Question {
  readonly service: string;
  /** The request's JSON. */
  readonly body: string;
  readonly isMutation: boolean;
  /** The same question may be asked again for this client request. */
  readonly mayRepeat: boolean;
}

export interface AskOptions {
  readonly clientOf: (service: string) => SubgraphClient;
  /** Undefined: every read goes alone. */
  readonly sharing: Sharing | undefined;
  /** Undefined where nobody watches. */
  readonly fetches?: FetchObserver | undefined;
}

/** Asks subgraphs for one client request. Never rejects: what goes wrong is an answer too. */
export type Ask = (question: Question) => Promise<AskedAnswer>;

/**
 * @param isReadOnly false within a mutation: what it reads must be younger than what it wrote, so its reads are neither shared with
 * others nor remembered.
 */
export function createAsk({ clientOf, sharing, fetches }: AskOptions, scope: RequestScope, isReadOnly: boolean): Ask {
  const remembered = new Map<string, Promise<AskedAnswer>>();

  function send({ service, body, isMutation }: Question, signal: AbortSignalLike): Promise<AskedAnswer> {
    return ask(clientOf(service), { body, isIdempotent: !isMutation, signal }, scope, fetches);
  }

  function read(question: Question): Promise<AskedAnswer> {
    if (!sharing) return send(question, scope.signal);
    const { service, body } = question;
    const { authorization } = scope;
    const settledWrites = clientOf(service).writes.settled;
    let isOwn = false;
    const answer = sharing.share({ service, body, authorization, settledWrites }, scope.signal, (signal) => {
      isOwn = true;
      return send(question, signal);
    });
    if (!isOwn) fetches?.join(service, scope.record, answer);
    return answer;
  }

  return (question) => {
    if (scope.signal.aborted) return Promise.resolve(endedReply(scope.signal.reason));
    if (!isReadOnly || question.isMutation) return send(question, scope.signal);
    if (!question.mayRepeat) return read(question);
    // A line break can stand in no JSON text.
    const key = `${question.service}\n${question.body}`;
    const known = remembered.get(key);
    if (known) return known;
    const answer = read(question);
    remembered.set(key, answer);
    return answer;
  };
}

interface Request {
  readonly body: string;
  readonly isIdempotent: boolean;
  readonly signal: AbortSignalLike;
}

async function ask(
  client: SubgraphClient,
  { body, isIdempotent, signal }: Request,
  scope: RequestScope,
  fetches: FetchObserver | undefined,
): Promise<AskedAnswer> {
  const fetch = fetches?.begin(client.name, scope.record);
  const traced = fetch?.traced;
  const headers = listHeaders(scope, traced === undefined);
  const reply = await client.post(body, { headers, isIdempotent, signal, traced });
  const answer = reply.kind === "answered" ? readSubgraphAnswer(reply) : reply;
  fetch?.end(answer);
  return answer;
}

/**
 * Names and values in turn. Only these three of the client's go further; everything else stays at the door. No answer depends on request id
 * and trace.
 * @param saysTrace false where each attempt says its own.
 */
function listHeaders({ requestId, trace, authorization }: RequestScope, saysTrace: boolean): readonly string[] {
  const json = "application/json";
  const list = ["accept", json, "content-type", json, "x-request-id", requestId];
  if (saysTrace) list.push("traceparent", createTraceParent(trace));
  if (authorization !== undefined) list.push("authorization", authorization);
  return list;
}
