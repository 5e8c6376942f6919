// Stage 4 of 5: fetch it. Is what came a GraphQL answer? (GraphQL spec, section 7.1 "Response Format")
import { isClientFacingCode } from "../errors/codes.ts";
import type { MemoSource } from "./memoize-by-source.ts";
import type { FailedFetch, FetchFailureCode, HttpReply } from "./subgraph-client.ts";

export type ResponsePath = readonly (string | number)[];

/** An entry of a subgraph's `errors[]`: what it said, and where, in its own terms. Whole: for masking, and never for the log. */
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

/** What is wrong with an answer, without a word of its body: it may hold whatever the service holds. */
interface ResponseDefect {
  readonly defect:
    | "unavailable status"
    | "no JSON object"
    | "data is no object"
    | "errors are no list of errors"
    | "no data";
  readonly status: number;
  readonly bodyBytes: number;
  /** Without its parameters; undefined when there is none, or none that can be one. */
  readonly contentType: string | undefined;
}

/** All that can become of one request to a subgraph. */
export type FetchResult = (FailedFetch | SubgraphResponse) & MemoSource;

/** More steps than an answer has levels; the rest of a longer path is left out. */
const pathStepsMax = 200;

/** Often sent by a proxy in place of the subgraph. After 502 to 504 a read has been retried, if it could be (`kit/src/upstream/upstream.ts`). */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Leaves a byte order mark out. */
const utf8 = new TextDecoder();

type Answered = Extract<HttpReply, { kind: "answered" }>;

/** Never throws. The response is used if its body is well-formed GraphQL, whatever its status. */
export function readSubgraphResponse(reply: Answered): SubgraphResponse {
  const answer = readGraphqlResponse(reply);
  return unavailableStatuses.has(reply.status) && !hasContent(answer)
    ? unusable("unavailable status", reply, "SUBGRAPH_UNAVAILABLE")
    : answer;
}

/** Data, or an error that is meant for clients. */
function hasContent(answer: SubgraphResponse): boolean {
  if (answer.kind !== "graphql") return false;
  return answer.data !== null || answer.errors.some(({ extensions }) => isClientFacingCode(extensions["code"]));
}

function readGraphqlResponse(reply: Answered): SubgraphResponse {
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
  { replica, status, body, contentType }: Answered,
  code: FetchFailureCode = "SUBGRAPH_BAD_ANSWER",
): SubgraphResponse {
  const why = { defect, status, bodyBytes: body.length, contentType: readMediaType(contentType) };
  return { kind: "unusable", code, why, replica };
}

/** `type/subtype` (RFC 9110, section 8.3.1), which is all of the header that the log is told. */
function readMediaType(contentType: string | undefined): string | undefined {
  return /^[a-z]{1,20}\/[\w.+-]{1,60}(?=\s*(?:;|$))/i.exec(contentType ?? "")?.[0].toLowerCase();
}
