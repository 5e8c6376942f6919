import type { Readable } from "node:stream";
import type { AttemptEndReason, RequestDeadline } from "./request-deadline.ts";

/** Once. Sets `deadline.listener`. Rejects only if the request itself is invalid, such as a header with a line break. */
export type Transport<Connection, Body extends ResponseBody> = (
  replica: { readonly connection: Connection; readonly name: string; readonly origin: string; readonly path: string },
  request: TransportRequest,
  deadline: RequestDeadline,
) => Promise<TransportResult<Body>>;

export interface TransportRequest {
  readonly method: string;
  readonly path?: string | undefined;
  /** Names and values in turn; the transport adds `host` and `content-length`. */
  readonly headers: readonly string[];
  readonly body?: string | Buffer | undefined;
  /** Except 100 and 101 (RFC 9110, section 15.2). */
  readonly onInformation?: InformationListener | undefined;
}

export type InformationListener = (status: number, headers: ResponseHeaders) => void;

/** A stream is read later: long responses in the REST proxy, and responses to writes. */
export type ResponseBody = Buffer | Readable;

export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type TransportResult<Body extends ResponseBody> = TransportResponse<Body> | TransportFailure;

export interface TransportResponse<Body extends ResponseBody> {
  readonly kind: "response";
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** As they were received: buffers from undici, strings from `node:http`. */
  readonly rawHeaders: readonly (string | Buffer)[];
  readonly body: Body;
}

export function decodeRawHeaders(rawHeaders: TransportResponse<ResponseBody>["rawHeaders"]): readonly string[] {
  return rawHeaders.map((text) => (typeof text === "string" ? text : text.toString("latin1")));
}

/** `refused`: nothing was sent. `reset`: the connection broke, or the response is not HTTP; the request may have been processed. */
export interface TransportFailure {
  readonly kind: "failed";
  readonly reason: "reset" | "too-large" | AttemptEndReason;
  readonly cause: unknown;
}
