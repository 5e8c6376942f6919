// Stage 4 of 5: run. Parses the response of a subgraph, for fetch.ts, and checks its form (GraphQL spec, section 7.1 "Response Format"). Entities are
// checked in entities.ts, other values in stage 5.
import { parseBigIntJson } from "@tributary/kit/json/exact-json";
import { isClientCode, isForwardedCode } from "../errors/codes.ts";
import type { SharedSource } from "./caching/memoize-by-source.ts";
import { readSubgraphCaching, type SubgraphCaching } from "./caching/response-caching.ts";
import type { FailedFetch, FetchFailureCode, HttpReply } from "./subgraph-client.ts";

export type ResponsePath = readonly (string | number)[];

/** An entry of a subgraph's `errors[]`. It may contain secrets: it is masked before a client gets it, and never logged. */
export interface SubgraphError {
  readonly message: string;
  readonly path: ResponsePath | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
}

export type GraphqlResponse = Extract<SubgraphResponse, { kind: "graphql" }>;

export type SubgraphResponse =
  | {
      readonly kind: "graphql";
      readonly data: Record<string, unknown> | null;
      readonly errors: readonly SubgraphError[];
      /** Undefined if caches may store neither the response nor any of its entities. Only read if the request asked for it. */
      readonly caching?: SubgraphCaching | undefined;
      /** Whether the subgraph rejected the document without executing it, such as for a field that it does not know. Undefined with data. */
      readonly isDocumentRejected?: boolean | undefined;
      readonly replica: string;
    }
  /** A complete response that cannot be used. One that is too large or not complete is a FailedFetch. */
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
  /** `type/subtype` without parameters; undefined if the header is missing or malformed. */
  readonly contentType: string | undefined;
}

/** The result of one request to a subgraph. Never changed, since several client requests can share it. */
export type FetchResult = (FailedFetch | SubgraphResponse) & SharedSource;

/** The most steps of an error's path that are read; further steps are cut off. */
const pathStepsMax = 200;

/** Often sent by a proxy in front of the subgraph. A read with 502 to 504 has already been retried if possible (kit/src/upstream/upstream.ts). */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type HttpResponse = Extract<HttpReply, { kind: "response" }>;

/**
 * Never throws. A response is used if its body is a well-formed GraphQL response and contains, depending on the HTTP status,
 * - 2xx: data or errors,
 * - 429, 502, 503, 504: data, or an error that is meant for the client,
 * - any other: an error.
 */
export function readSubgraphResponse(reply: HttpResponse, wantsCaching = false): SubgraphResponse {
  const response = readGraphqlResponse(reply, wantsCaching);
  const isUnavailable = unavailableStatuses.has(reply.status) && !hasContent(response);
  return isUnavailable ? unusable("unavailable status", reply, "SUBGRAPH_UNAVAILABLE") : response;
}

/** Data, or an error that is meant for clients. */
function hasContent(response: SubgraphResponse): boolean {
  if (response.kind !== "graphql") return false;
  return response.data !== null || response.errors.some(({ extensions }) => isForwardedCode(extensions["code"]));
}

function readGraphqlResponse(reply: HttpResponse, wantsCaching: boolean): SubgraphResponse {
  const { status } = reply;
  const body = parseObject(reply.body);
  if (body === undefined) return unusable("no JSON object", reply);
  const data = body["data"] ?? null;
  const errors = readErrors(body["errors"] ?? []);
  if (typeof data !== "object" || Array.isArray(data)) return unusable("data is no object", reply);
  if (errors === undefined) return unusable("errors are no list of errors", reply);
  const isSuccess = status >= 200 && status < 300;
  // A rejection by the subgraph (4xx, 500) must have errors: without them its data may be null for a reason that is not reported.
  const needsErrors = data === null || (!isSuccess && !unavailableStatuses.has(status));
  if (needsErrors && errors.length === 0) return unusable("no data", reply);
  const response = {
    kind: "graphql",
    data: data as Record<string, unknown> | null,
    errors,
    replica: reply.replica,
  } as const;
  if (data === null) return { ...response, isDocumentRejected: isDocumentRejected(body, status, errors) };
  const isCacheable = wantsCaching && status === 200 && errors.length === 0;
  if (!isCacheable) return response;
  return { ...response, caching: readSubgraphCaching(body["extensions"], reply.cacheControl) };
}

/** The statuses with which servers reject a document: 400 by GraphQL over HTTP, 422 by gqlgen, 200 by most others. */
const rejectionStatuses: ReadonlySet<number> = new Set([200, 400, 422]);

/**
 * Whether errors without data are request errors (GraphQL spec, 7.1.2 "Request Error Result"): the response then has no `data`. Some servers send
 * `data: null` (async-graphql, gqlgen), and then no paths; some send paths in the document (graphql-ruby, Hot Chocolate), and then no `data`.
 */
function isDocumentRejected(
  body: Readonly<Record<string, unknown>>,
  status: number,
  errors: readonly SubgraphError[],
): boolean {
  const isRequestError = !Object.hasOwn(body, "data") || errors.every(({ path }) => path === undefined);
  return isRequestError && rejectionStatuses.has(status) && errors.every(mayRejectDocument);
}

/** Codes differ: `GRAPHQL_VALIDATION_FAILED` (Apollo Server, gqlgen), `undefinedField` (graphql-ruby), mostly none. A known code has another reason. */
function mayRejectDocument({ extensions: { code } }: SubgraphError): boolean {
  return !isClientCode(code) || code === "GRAPHQL_VALIDATION_FAILED" || code.endsWith("_LIMIT_EXCEEDED");
}

/** Whole numbers beyond 2^53 - 1 become bigints: rounded, a key would be that of another row. */
function parseObject(json: Uint8Array): Record<string, unknown> | undefined {
  try {
    const body = parseBigIntJson(json);
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined unless it is a list of objects. */
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

/** @returns undefined unless it is a list of strings and integers. */
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
  { replica, status, body, contentType }: HttpResponse,
  code: FetchFailureCode = "SUBGRAPH_INVALID_RESPONSE",
): SubgraphResponse {
  const why = { defect, status, bodyBytes: body.length, contentType: readMediaType(contentType) };
  return { kind: "unusable", code, why, replica };
}

/** `type/subtype` (RFC 9110, section 8.3.1), followed by parameters or the end of the header. */
const mediaTypePattern = /^[a-z]{1,20}\/[\w.+-]{1,60}(?=\s*(?:;|$))/i;

/** The media type without parameters: the log contains nothing else of the header. */
function readMediaType(contentType: string | undefined): string | undefined {
  const match = mediaTypePattern.exec(contentType ?? "");
  return match?.[0].toLowerCase();
}
