// The span of one attempt. `upstream.ts` starts and ends it; the telemetry of the gateway and the REST proxy provides the parent span.
import type { Span, SpanOptions } from "../telemetry/tracing/trace.ts";
import type { Replica } from "./replica-set.ts";
import type { ResponseBody, TransportResult } from "./transport.ts";

/** How the attempts of a request are traced. */
export interface TracedRequest {
  /** The span of the whole request, retries included. */
  readonly parent: Span;
  /** The name of each attempt's span. */
  readonly name: string;
  /** Further attributes of each attempt's span, beside those of HTTP. */
  readonly attributes: NonNullable<SpanOptions["attributes"]>;
}

interface AttemptDescription {
  readonly method: string;
  readonly replica: Pick<Replica<unknown>, "address" | "port">;
  /** The number of earlier attempts of this request. */
  readonly resends: number;
}

/** Starts the span of one attempt, with OpenTelemetry's attributes of an HTTP client. Only a retry has a resend count. */
export function startAttemptSpan({ parent, name, attributes }: TracedRequest, attempt: AttemptDescription): Span {
  const { method, replica, resends } = attempt;
  const span = parent.child(name, {
    kind: "client",
    attributes: {
      ...attributes,
      "http.request.method": method,
      "server.address": replica.address,
      "server.port": replica.port,
    },
  });
  if (resends > 0) span.set("http.request.resend_count", resends);
  return span;
}

/** @param result undefined if the transport threw, since the request itself is invalid: a bug. A connection that fails is a `result`. */
export function endAttemptSpan(span: Span, result: TransportResult<ResponseBody> | undefined): void {
  if (result?.kind === "response") {
    span.set("http.response.status_code", result.status);
    if (result.status >= 500) span.fail(String(result.status));
  } else if (result?.reason === "aborted") {
    // The caller of `Upstream.send` aborted the request, which is no failure of the replica.
    span.set("tributary.outcome", "aborted");
  } else if (result) span.fail(result.reason);
  span.end();
}
