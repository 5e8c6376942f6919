// Stage 4 of 5: fetch it. One request to one subgraph, and its answer read.
import { createTraceParent } from "@tributary/kit/trace-context";
import type { CallerSignal } from "@tributary/kit/upstream";
import type { Sharing } from "./in-flight.ts";
import type { RequestScope } from "./request-scope.ts";
import { type AskedAnswer, readSubgraphAnswer } from "./subgraph-answer.ts";
import type { SubgraphClient } from "./subgraph-client.ts";

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
}

/** Asks subgraphs for one client request. Never rejects: what goes wrong is an answer too. */
export type Ask = (question: Question) => Promise<AskedAnswer>;

/**
 * @param isReadOnly false within a mutation: what it reads must be younger than what it wrote, so its reads are neither shared with
 * others nor remembered.
 */
export function createAsk({ clientOf, sharing }: AskOptions, scope: RequestScope, isReadOnly: boolean): Ask {
  const remembered = new Map<string, Promise<AskedAnswer>>();

  function send({ service, body, isMutation }: Question, signal: CallerSignal): Promise<AskedAnswer> {
    return ask(clientOf(service), body, !isMutation, scope, signal);
  }

  function read(question: Question): Promise<AskedAnswer> {
    if (!sharing) return send(question, scope.signal);
    const { service, body } = question;
    const { authorization } = scope;
    return sharing.share({ service, body, authorization }, scope.signal, (signal) => send(question, signal));
  }

  return (question) => {
    if (scope.signal.aborted) return Promise.resolve(notSent(scope.signal));
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

function notSent(signal: CallerSignal): AskedAnswer {
  return { kind: "failed", code: "SUBGRAPH_TIMEOUT", cause: new Error(`not sent: ${String(signal.reason)}`) };
}

async function ask(
  client: SubgraphClient,
  body: string,
  isIdempotent: boolean,
  scope: RequestScope,
  signal: CallerSignal,
): Promise<AskedAnswer> {
  const reply = await client.post(body, { headers: listHeaders(scope), isIdempotent, signal });
  return reply.kind === "failed" ? reply : readSubgraphAnswer(reply.status, reply.body);
}

/**
 * Names and values in turn. Only these three of the client's go further; everything else stays at the door. No answer depends on request id
 * and trace.
 */
function listHeaders({ requestId, trace, authorization }: RequestScope): readonly string[] {
  const traceParent = createTraceParent(trace);
  const json = "application/json";
  const always = ["accept", json, "content-type", json, "x-request-id", requestId, "traceparent", traceParent];
  return authorization === undefined ? always : [...always, "authorization", authorization];
}
