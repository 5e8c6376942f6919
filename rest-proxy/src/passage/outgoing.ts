import { Readable } from "node:stream";
import type { Span } from "@tributary/kit/telemetry/tracing/trace";
import { forEachHeader, listHeaderLines } from "@tributary/kit/http/raw-headers";
import { deadlineHeader } from "@tributary/kit/http/deadline";
import { isHopByHop, namesInConnection } from "../forward/headers.ts";
import type { PassageRequest } from "./ask.ts";
import type { AttemptRequest } from "./attempt.ts";

/** A request as it goes to the service, and how often it may. */
export interface Outgoing {
  readonly request: AttemptRequest;
  /** Twice is like once: it may be sent again after it may have arrived. */
  readonly isIdempotent: boolean;
  /** Its body can be read only once, so it is not even sent again where nobody took it. */
  readonly isOneShot: boolean;
  /** Undefined when it is not traced. */
  readonly span: Span | undefined;
}

/** Said by whoever sends: the address, the length of the message and the time that is left. */
const saidAnew: ReadonlySet<string> = new Set(["expect", "host", deadlineHeader]);

export function toOutgoing(from: PassageRequest): Outgoing {
  const { method, target, body, span } = from;
  return {
    request: { method, target, body, headers: endToEnd(from.headers) },
    isIdempotent: isIdempotent(from),
    isOneShot: body instanceof Readable,
    span,
  };
}

/**
 * RFC 9110, 9.2.2, but less: `DELETE` and `PUT` are idempotent there, yet the second answer is another one than the first (404), and nobody
 * would know that the first had come through. A `POST` with a key may hear of its own first try, as 409 in flight.
 */
function isIdempotent({ method, headers, takesIdempotencyKey = false }: PassageRequest): boolean {
  if (method === "GET" || method === "HEAD") return true;
  return method === "POST" && takesIdempotencyKey && hasIdempotencyKey(headers);
}

function hasIdempotencyKey(headers: readonly string[]): boolean {
  return listHeaderLines(headers, "idempotency-key").some((value) => value.trim() !== "");
}

/** What was meant for one connection goes here too, whoever wrote the list (RFC 9110, 7.6.1). */
function endToEnd(headers: readonly string[]): readonly string[] {
  const dropped = namesInConnection(headers);
  const kept: string[] = [];
  forEachHeader(headers, (sentName, value) => {
    const name = sentName.toLowerCase();
    if (!saidAnew.has(name) && !isHopByHop(name) && !dropped.has(name)) kept.push(name, value);
  });
  return kept;
}

/** With the time that is left; what each attempt gets is the same but for that. */
export function withDeadline({ headers, ...request }: AttemptRequest, remainingMs: number): AttemptRequest {
  return { ...request, headers: [...headers, deadlineHeader, String(Math.max(1, Math.floor(remainingMs)))] };
}

/** Below that span. */
export function withTrace({ headers, ...request }: AttemptRequest, { traceParent }: Span): AttemptRequest {
  const at = headers.indexOf("traceparent");
  const others = at === -1 ? headers : headers.toSpliced(at, 2);
  return { ...request, headers: [...others, "traceparent", traceParent] };
}
