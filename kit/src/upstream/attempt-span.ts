import type { Span, SpanOptions } from "../telemetry/tracing/trace.ts";
import type { Replica } from "./replica-set.ts";

/** What the spans of a request's attempts hang on and are called. */
export interface TracedRequest {
  /** Of the whole request, retries included. */
  readonly parent: Span;
  /** Of each attempt's. */
  readonly name: string;
  /** Of each attempt's, beside those of HTTP. */
  readonly attributes: NonNullable<SpanOptions["attributes"]>;
}

interface AttemptAbout {
  readonly method: string;
  readonly replica: Pick<Replica<unknown>, "address" | "port">;
  /** Attempts of this request before this one. */
  readonly resends: number;
}

type AttemptOutcome =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "failed"; readonly reason: string };

/** A span for one attempt, by OpenTelemetry's names for HTTP clients: a resend says the how manieth it is, a first attempt says nothing. */
export function beginAttempt({ parent, name, attributes }: TracedRequest, about: AttemptAbout): Span {
  const { method, replica, resends } = about;
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

/** Undefined when the request could not be sent: a bug of the caller. */
export function endAttempt(span: Span, outcome: AttemptOutcome | undefined): void {
  if (outcome?.kind === "answered") span.set("http.response.status_code", outcome.status);
  if (outcome?.kind === "answered" && outcome.status >= 500) span.fail(String(outcome.status));
  // Nobody waits any more: that is no failure of the replica's.
  if (outcome?.kind === "failed" && outcome.reason === "aborted") span.set("tributary.outcome", "aborted");
  else if (outcome?.kind === "failed") span.fail(outcome.reason);
  span.end();
}
