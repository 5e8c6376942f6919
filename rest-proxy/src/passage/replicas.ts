import { hasHeader } from "@tributary/kit/http/raw-headers";
import { Readable } from "node:stream";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";
import { beginAttempt, endAttempt, type TracedRequest } from "@tributary/kit/upstream/attempt-span";
import type { Deadline } from "@tributary/kit/upstream/deadline";
import type { Verdict } from "@tributary/kit/upstream/replica-health";
import type { AttemptFailure, Replica, ReplicaPicker } from "@tributary/kit/upstream/replica-picker";
import { ClientDisconnected } from "../errors/errors.ts";
import { serviceDown, serviceLate } from "../errors/errors.ts";
import type { Attempt, AttemptRequest, AttemptResult } from "./attempt.ts";
import { type Outgoing, withDeadline, withTrace } from "./outgoing.ts";
import type { ReplicaConnection } from "./replica-connection.ts";

export interface Asking {
  readonly service: string;
  readonly picker: ReplicaPicker<ReplicaConnection>;
  readonly attempt: Attempt;
  readonly deadline: Deadline;
  /** Until the deadline. */
  remainingMs(): number;
}

/** The head of an answer, of whatever status. */
export interface Answered {
  readonly answer: Extract<AttemptResult, { kind: "answered" }>;
  /** Has to be called once, when the body is over: until then the replica counts it as its load. */
  end(verdict: Verdict, cause: unknown): void;
}

interface Tried {
  readonly result: AttemptResult;
  readonly end: Answered["end"];
}

/**
 * Asks one replica after the other, while that may help, may be done, and is paid for. What each of them gets is the same but for the time
 * that is left.
 * @throws AppError BAD_GATEWAY, GATEWAY_TIMEOUT; ClientGone when nobody waits any more.
 */
export async function askReplicas(outgoing: Outgoing, asking: Asking): Promise<Answered> {
  const { picker, deadline } = asking;
  const { isIdempotent, isOneShot } = outgoing;
  const tried: Replica<ReplicaConnection>[] = [];
  let replica = picker.choose(isIdempotent);
  let cause: unknown;
  let last: string | undefined;
  while (replica && !deadline.ended) {
    last = replica.name;
    const look = picker.look(replica, tried);
    if (look && !(await look)) {
      cause = new Error("nobody takes connections there");
      tried.push(replica);
      replica = picker.chooseAgain({ tried, failure: "refused", status: undefined, isIdempotent });
      continue;
    }
    const { result, end } = await askOne(replica, tried.length, outgoing, asking);
    const failure = readFailure(result);
    if (result.kind === "answered" && !failure) return { answer: result, end };
    cause = causeOf(result);
    end(result.kind === "failed" && result.reason === "aborted" ? "neither" : "bad", cause);
    if (!failure) break;
    tried.push(replica);
    replica = isOneShot ? undefined : picker.chooseAgain({ tried, failure, status: statusOf(result), isIdempotent });
    if (result.kind === "failed") continue;
    if (!replica) return { answer: result, end: () => undefined };
    destroyBody(result.body);
  }
  throw toError(deadline, cause, last);
}

async function askOne(
  replica: Replica<ReplicaConnection>,
  resends: number,
  outgoing: Outgoing,
  asking: Asking,
): Promise<Tried> {
  const { picker, attempt, deadline, remainingMs } = asking;
  const { request, span } = outgoing;
  const begun = picker.begin(replica);
  const end: Answered["end"] = (verdict, cause) => picker.end(replica, begun, verdict, cause);
  try {
    const timed = withDeadline(request, remainingMs());
    const send = (sent: AttemptRequest) => attempt(replica.connection, sent, deadline);
    const result = await (span
      ? traced(toTraced(span, asking), { replica, resends, method: timed.method }, timed, send)
      : send(timed));
    return { result: readStatus(result), end };
  } catch (error) {
    end("neither", error);
    throw error;
  }
}

function toTraced(parent: Span, { service }: Asking): TracedRequest {
  return { parent, name: `ask ${service}`, attributes: { "tributary.service": service } };
}

/** A span from the sending to the head of the answer. */
async function traced(
  request: TracedRequest,
  about: Parameters<typeof beginAttempt>[1],
  sent: AttemptRequest,
  send: (request: AttemptRequest) => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const span = beginAttempt(request, about);
  let result: AttemptResult | undefined;
  try {
    result = await send(withTrace(sent, span));
    return result;
  } finally {
    endAttempt(span, result);
  }
}

/** Parsers take any three digits, but an answer with some of them cannot be written: what speaks so does not speak HTTP (RFC 9110, 15). */
function readStatus(result: AttemptResult): AttemptResult {
  if (result.kind === "failed") return result;
  const { status, body } = result;
  // Before anybody read it: it broke with its head.
  if (body instanceof Readable && body.destroyed) return { kind: "failed", reason: "reset", cause: body.errored };
  if (status >= 200 && status <= 599) return result;
  destroyBody(body);
  return { kind: "failed", reason: "reset", cause: new Error(`The service answered with the status ${status}.`) };
}

function destroyBody(body: Buffer | Readable): void {
  if (body instanceof Readable) body.destroy();
}

/** A gateway's words for "not me, not now" (RFC 9110, 15.6): another replica may do better. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/** Undefined when another attempt could do no better, or there is no time for one. */
function readFailure(result: AttemptResult): AttemptFailure | undefined {
  if (result.kind === "failed") return isFinal(result.reason) ? undefined : result.reason;
  return unavailableStatuses.has(result.status) && !saysWhen(result.headers) ? "answered" : undefined;
}

function isFinal(reason: Extract<AttemptResult, { kind: "failed" }>["reason"]): reason is "timeout" | "aborted" {
  return reason === "timeout" || reason === "aborted";
}

/** A service that says when to come again is alive, and speaks for all its replicas (RFC 9110, 10.2.3). */
function saysWhen(headers: readonly string[]): boolean {
  return hasHeader(headers, "retry-after");
}

function statusOf(result: AttemptResult): number | undefined {
  return result.kind === "answered" ? result.status : undefined;
}

function causeOf(result: AttemptResult): unknown {
  return result.kind === "failed" ? result.cause : new Error(`${result.status}, said the replica itself`);
}

function toError({ ended }: Deadline, cause: unknown, replica: string | undefined): Error {
  if (ended?.reason === "timeout") return serviceLate(ended.cause, replica);
  if (ended) return new ClientDisconnected("Nobody waits for the answer any more.", { cause: ended.cause });
  return serviceDown(cause ?? new Error("No address is known"), replica);
}
