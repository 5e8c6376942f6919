import type { Span, SpanOptions } from "../telemetry/tracing/trace.ts";
import type { Replica } from "./replica-set.ts";
import type { ResponseBody, TransportResult } from "./transport.ts";

export interface TracedRequest {
  readonly parent: Span;
  readonly name: string;
  readonly attributes: NonNullable<SpanOptions["attributes"]>;
}

interface AttemptDescription {
  readonly method: string;
  readonly replica: Pick<Replica<unknown>, "address" | "port">;
  readonly resends: number;
}

/** With OpenTelemetry's attributes of an HTTP client. */
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

/** @param result undefined if the transport threw: a bug. */
export function endAttemptSpan(span: Span, result: TransportResult<ResponseBody> | undefined): void {
  if (result?.kind === "response") {
    span.set("http.response.status_code", result.status);
    if (result.status >= 500) span.fail(String(result.status));
  } else if (result?.reason === "aborted") {
    span.set("tributary.outcome", "aborted");
  } else if (result) span.fail(result.reason);
  span.end();
}
