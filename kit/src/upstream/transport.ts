// What `upstream.ts` calls to send one attempt. Implemented by `undici-transport.ts`, and by the REST proxy for writes.
import type { Readable } from "node:stream";
import type { AttemptEndReason, RequestDeadline } from "./request-deadline.ts";

/**
 * Sends a request to one replica, once. Sets `deadline.listener`, so that the end of the deadline cancels the attempt. Rejects only if the request
 * itself is invalid, such as a header with a line break.
 */
export type Transport<Connection, Body extends ResponseBody> = (
  /** `path`: path and query of the replica's URL, used if the request has none. */
  replica: { readonly connection: Connection; readonly path: string },
  request: TransportRequest,
  deadline: RequestDeadline,
) => Promise<TransportResult<Body>>;

export interface TransportRequest {
  readonly method: string;
  /** Path and query, beginning with `/`. Default: those of the replica's URL. */
  readonly path?: string | undefined;
  /** Names and values in turn. Sent unchanged; the transport adds `host` and `content-length`. */
  readonly headers: readonly string[];
  readonly body?: string | Buffer | undefined;
  /** Called for each informational response (RFC 9110, section 15.2) with another status than 100 and 101. */
  readonly onInformation?: InformationListener | undefined;
}

export type InformationListener = (status: number, headers: ResponseHeaders) => void;

/** A buffer holds the whole body; a stream is read later: long responses in the REST proxy, and responses to writes. */
export type ResponseBody = Buffer | Readable;

/** By name in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type TransportResult<Body extends ResponseBody> = TransportResponse<Body> | TransportFailure;

export interface TransportResponse<Body extends ResponseBody> {
  readonly kind: "response";
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Names and values in turn, as they were received: buffers from undici, strings from `node:http`. */
  readonly rawHeaders: readonly (string | Buffer)[];
  /** As it was received: not decompressed. */
  readonly body: Body;
}

/** Names and values in turn, as strings. */
export function decodeRawHeaders(rawHeaders: TransportResponse<ResponseBody>["rawHeaders"]): readonly string[] {
  return rawHeaders.map((text) => (typeof text === "string" ? text : text.toString("latin1")));
}

/**
 * - `refused`: there was no connection, so nothing was sent.
 * - `reset`: the connection broke, or the response is not HTTP; the request may have been processed.
 * - `too-large`: the response is longer than the transport allows.
 * - `attempt-timeout`: the time of this attempt has passed; `timeout`: that of the whole request.
 * - `aborted`: the caller has aborted the request.
 */
export interface TransportFailure {
  readonly kind: "failed";
  readonly reason: "reset" | "too-large" | AttemptEndReason;
  readonly cause: unknown;
}
