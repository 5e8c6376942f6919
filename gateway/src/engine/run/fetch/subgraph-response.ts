// Stage 4 of 5: run. Parses the response of a subgraph and checks its form (GraphQL spec, 7.1 "Response Format").
import { parseBigIntJson } from "@tributary/kit/json/exact-json";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { readRetryAfter } from "@tributary/kit/upstream/retry-after";
import { type ClientCode, isClientCode } from "../../../errors/codes.ts";
import type { ErrorPolicy, PublicError } from "../../../subgraph-settings/error-policy.ts";
import type { ResponseForm } from "../../plan/compile/compiled-plan.ts";
import type { SharedSource } from "../caching/memoize-by-source.ts";
import { readSubgraphCaching, type SubgraphCaching } from "../caching/response-caching.ts";
import { readByForm } from "./read-by-form.ts";
import type { FailedFetch, FetchFailureCode, HttpReply } from "./subgraph-client.ts";

export type ResponsePath = readonly (string | number)[];

/** `message` and `extensions` may contain secrets: clients get only what is `public`, and they are never logged. */
export interface SubgraphError {
  readonly message: string;
  readonly path: ResponsePath | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
  /** By the settings of the subgraph. Undefined: the error is masked. */
  readonly public: PublicError | undefined;
}

export type GraphqlResponse = Extract<SubgraphResponse, { kind: "graphql" }>;

export type SubgraphResponse =
  | {
      readonly kind: "graphql";
      readonly data: Record<string, unknown> | null;
      readonly errors: readonly SubgraphError[];
      /** Only read if the request asked for it. */
      readonly caching?: SubgraphCaching | undefined;
      /** Without executing it. Undefined with data. */
      readonly isDocumentRejected?: boolean | undefined;
      readonly replica: string;
      /** The body, if `data` may refer to it (read-by-form.ts), and no other result does. */
      readonly bytes?: Buffer | undefined;
    }
  /** A complete response that cannot be used. */
  | {
      readonly kind: "unusable";
      readonly code: FetchFailureCode;
      readonly why: ResponseDefect;
      readonly replica: string;
      readonly retryAfterSeconds?: number | undefined;
    };

/** For the log: no part of the body, which may contain secrets. */
interface ResponseDefect {
  readonly defect:
    | "unavailable status"
    | "no JSON object"
    | "data is no object"
    | "errors are no list of errors"
    | "no data";
  readonly status: number;
  readonly bodyBytes: number;
  readonly contentType: string | undefined;
}

/** Its data is never changed, since several client requests can share it; memos are added (caching/memoize-by-source.ts). */
export type FetchResult = (FailedFetch | SubgraphResponse) & SharedSource;

const pathStepsMax = 200;

/** Often sent by a proxy in front of the subgraph. */
const unavailableStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

type HttpResponse = Extract<HttpReply, { kind: "response" }>;

interface ReadOptions {
  readonly responseForm: ResponseForm | undefined;
  /** Reads the caching metadata of the response. */
  readonly wantsCaching: boolean;
}

/**
 * Never throws. A response is used if it contains, by its status: 2xx: data or errors; 429, 502, 503, 504: data, or an error that is meant for the
 * client; any other: an error.
 */
export function readSubgraphResponse(reply: HttpResponse, policy: ErrorPolicy, o: ReadOptions): SubgraphResponse {
  const response = readGraphqlResponse(reply, policy, o);
  if (!unavailableStatuses.has(reply.status)) return response;
  const retryAfterSeconds = readRetryAfter(reply.headers["retry-after"]);
  if (response.kind === "graphql" && hasContent(response)) return addRetryAfter(response, retryAfterSeconds);
  return { ...unusable("unavailable status", reply, "SUBGRAPH_UNAVAILABLE"), retryAfterSeconds };
}

function addRetryAfter(response: GraphqlResponse, retryAfterSeconds: number | undefined): GraphqlResponse {
  if (retryAfterSeconds === undefined) return response;
  const errors = response.errors.map((error) => {
    const { public: published } = error;
    if (!published) return error;
    return { ...error, public: { ...published, extensions: { retryAfterSeconds, ...published.extensions } } };
  });
  return { ...response, errors };
}

function hasContent(response: GraphqlResponse): boolean {
  return response.data !== null || response.errors.some((error) => error.public !== undefined);
}

function readGraphqlResponse(
  reply: HttpResponse,
  policy: ErrorPolicy,
  { responseForm, wantsCaching }: ReadOptions,
): SubgraphResponse {
  const { status } = reply;
  // A cache that stores a span would keep the whole response in memory, and `extensions` are not in its form.
  const form = wantsCaching ? undefined : responseForm;
  const byForm = form && readByForm(reply.body, form);
  const body = byForm ?? parseObject(reply.body);
  const code = statusCodes.get(status);
  if (code !== undefined && !isGraphql(body))
    return { kind: "graphql", data: null, errors: [toError(code)], replica: reply.replica };
  if (body === undefined) return unusable("no JSON object", reply);
  const data = body["data"] ?? null;
  const errors = readErrors(body["errors"] ?? [], policy);
  if (typeof data !== "object" || Array.isArray(data)) return unusable("data is no object", reply);
  if (errors === undefined) return unusable("errors are no list of errors", reply);
  const isSuccess = status >= 200 && status < 300;
  // A rejection (4xx, 500) must have errors: without them its data may be null for a reason that is not reported.
  const needsErrors = data === null || (!isSuccess && !unavailableStatuses.has(status));
  if (needsErrors && errors.length === 0) return unusable("no data", reply);
  const response = {
    kind: "graphql",
    data: data as Record<string, unknown> | null,
    errors,
    replica: reply.replica,
    bytes: byForm && reply.body,
  } as const;
  if (data === null) return { ...response, isDocumentRejected: isDocumentRejected(body, status, errors) };
  const isCacheable = wantsCaching && status === 200 && errors.length === 0;
  if (!isCacheable) return response;
  return { ...response, caching: readSubgraphCaching(body["extensions"], reply.headers) };
}

/** Of a server, or a proxy in front of it, that rejects the caller before GraphQL. */
const statusCodes: ReadonlyMap<number, ClientCode> = new Map([
  [401, "UNAUTHENTICATED"],
  [403, "FORBIDDEN"],
]);

/** Other servers send `errors` too (JSON:API), but without messages. */
function isGraphql(body: Json | undefined): boolean {
  const { data, errors } = body ?? {};
  if (!Array.isArray(errors)) return isJsonObject(data);
  return errors.some((error) => isJsonObject(error) && typeof error["message"] === "string");
}

function toError(code: ClientCode): SubgraphError {
  return { message: "", path: undefined, extensions: { code }, public: { code, message: undefined, extensions: {} } };
}

/** 400 by GraphQL over HTTP, 422 by gqlgen, 200 by most others. */
const rejectionStatuses: ReadonlySet<number> = new Set([200, 400, 422]);

/**
 * A request error (GraphQL spec, 7.1.2) has no `data`. Some servers send `data: null` without paths (async-graphql, gqlgen), some paths in the
 * document without `data` (graphql-ruby, Hot Chocolate).
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
function parseObject(json: Uint8Array): Json | undefined {
  try {
    const body = parseBigIntJson(json);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function readErrors(raw: unknown, policy: ErrorPolicy): readonly SubgraphError[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  const errors = raw.map((error) => readError(error, policy));
  return errors.every((error) => error !== undefined) ? errors : undefined;
}

function readError(raw: unknown, policy: ErrorPolicy): SubgraphError | undefined {
  if (!isJsonObject(raw)) return undefined;
  const message = typeof raw["message"] === "string" ? raw["message"] : "";
  const extensions = isJsonObject(raw["extensions"]) ? raw["extensions"] : {};
  return { message, path: readPath(raw["path"]), extensions, public: policy.publish(message, extensions) };
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
  { replica, status, body, contentType }: HttpResponse,
  code: FetchFailureCode = "SUBGRAPH_INVALID_RESPONSE",
) {
  const why = { defect, status, bodyBytes: body.length, contentType: readMediaType(contentType) };
  return { kind: "unusable", code, why, replica } satisfies SubgraphResponse;
}

/** RFC 9110, 8.3.1. */
const mediaTypePattern = /^[a-z]{1,20}\/[\w.+-]{1,60}(?=\s*(?:;|$))/i;

function readMediaType(contentType: string | undefined): string | undefined {
  const match = mediaTypePattern.exec(contentType ?? "");
  return match?.[0].toLowerCase();
}
