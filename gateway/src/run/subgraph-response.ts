// Stage 4 of 5: run. Parses and checks the response of a subgraph (GraphQL spec, section 7.1 "Response Format").
import { isClientFacingCode } from "../errors/codes.ts";
import type { MemoSource } from "./memoize-by-source.ts";
import type { FailedFetch, FetchFailureCode, HttpReply } from "./subgraph-client.ts";

export type ResponsePath = readonly (string | number)[];

/** An entry of a subgraph's `errors[]`. It may contain secrets: it is masked before a client gets it, and never logged. */
export interface SubgraphError {
  readonly message: string;
  readonly path: ResponsePath | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
}

export type SubgraphResponse =
  | {
      readonly kind: "graphql";
      readonly data: Record<string, unknown> | null;
      readonly errors: readonly SubgraphError[];
      readonly replica: string;
    }
  | {
      readonly kind: "unusable";
      readonly code: FetchFailureCode;
      readonly why: ResponseDefect;
      readonly replica: string;
    };

/** Why a response cannot be used, for the log. It has no part of the body, which may contain secrets. */
interface ResponseDefect {
  readonly defect:
    | "unavailable status"
    | "no JSON object"
    | "data is no object"
    | "errors are no list of errors"
    | "no data";
  readonly status: number;
  readonly bodyBytes: number;
  /** Without parameters; undefined if there is no valid one. */
  readonly contentType: string | undefined;
}

/** The result of one request to a subgraph. */
export type FetchResult = (FailedFetch | SubgraphResponse) & MemoSource;

/** More than a response has levels; a longer path is cut. */
const pathStepsMax = 200;

/** Often sent by a proxy in place of the subgraph. After 502 to 504 a read has been retried, if it could be (`kit/src/upstream/upstream.ts`). */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Removes a byte order mark. */
const utf8 = new TextDecoder();

type ReceivedReply = Extract<HttpReply, { kind: "answered" }>;

/** Never throws. The response is used if its body is well-formed GraphQL, whatever its status. */
export function readSubgraphResponse(reply: ReceivedReply): SubgraphResponse {
  const response = readGraphqlResponse(reply);
  return unavailableStatuses.has(reply.status) && !hasContent(response)
    ? unusable("unavailable status", reply, "SUBGRAPH_UNAVAILABLE")
    : response;
}

/** Data, or an error that is meant for clients. */
function hasContent(response: SubgraphResponse): boolean {
  if (response.kind !== "graphql") return false;
  return response.data !== null || response.errors.some(({ extensions }) => isClientFacingCode(extensions["code"]));
}

function readGraphqlResponse(reply: ReceivedReply): SubgraphResponse {
  const { status } = reply;
  const body = parseObject(utf8.decode(reply.body));
  if (body === undefined) return unusable("no JSON object", reply);
  const data = body["data"] ?? null;
  const errors = readErrors(body["errors"] ?? []);
  if (typeof data !== "object" || Array.isArray(data)) return unusable("data is no object", reply);
  if (errors === undefined) return unusable("errors are no list of errors", reply);
  // A rejection by the subgraph (4xx, 500) has errors: without them its data may be null for a reason that is not reported.
  const mayLackErrors = (status >= 200 && status < 300) || unavailableStatuses.has(status);
  if (errors.length === 0 && (data === null || !mayLackErrors)) return unusable("no data", reply);
  return { kind: "graphql", data: data as Record<string, unknown> | null, errors, replica: reply.replica };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function readErrors(raw: unknown): readonly SubgraphError[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  const errors = raw.map(readError);
  return errors.every((error) => error !== undefined) ? errors : undefined;
}

function readError(raw: unknown): SubgraphError | undefined {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  const { message, path, extensions } = raw as Record<string, unknown>;
  return {
    message: typeof message === "string" ? message : "",
    path: readPath(path),
    extensions: typeof extensions === "object" && extensions !== null ? (extensions as Record<string, unknown>) : {},
  };
}

function readPath(raw: unknown): ResponsePath | undefined {
  if (!Array.isArray(raw)) return undefined;
  const path: readonly unknown[] = raw.slice(0, pathStepsMax);
  return path.every(isStep) ? path : undefined;
}

function isStep(raw: unknown): raw is string | number {
  return typeof raw === "string" || Number.isInteger(raw);
}

function unusable(
  defect: ResponseDefect["defect"],
  { replica, status, body, contentType }: ReceivedReply,
  code: FetchFailureCode = "SUBGRAPH_BAD_ANSWER",
): SubgraphResponse {
  const why = { defect, status, bodyBytes: body.length, contentType: readMediaType(contentType) };
  return { kind: "unusable", code, why, replica };
}

/** `type/subtype` (RFC 9110, section 8.3.1): the log contains nothing else of the header. */
function readMediaType(contentType: string | undefined): string | undefined {
  return /^[a-z]{1,20}\/[\w.+-]{1,60}(?=\s*(?:;|$))/i.exec(contentType ?? "")?.[0].toLowerCase();
}
