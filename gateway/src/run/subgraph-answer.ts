// Stage 4 of 5: fetch it. Is what came a GraphQL answer? (GraphQL spec, section 7.1 "Response Format")
import type { Source } from "./derivations.ts";
import type { FetchFailureCode, SubgraphReply } from "./subgraph-client.ts";

export type Path = readonly (string | number)[];

/** An entry of a subgraph's `errors[]`: what it said, and where, in its own terms. Whole: for the log and for masking. */
export interface SubgraphError {
  readonly message: string;
  readonly path: Path | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
}

export type SubgraphAnswer =
  | {
      readonly kind: "graphql";
      readonly data: Record<string, unknown> | null;
      readonly errors: readonly SubgraphError[];
    }
  | { readonly kind: "unusable"; readonly code: FetchFailureCode; readonly why: string };

/** All that can become of one request to a subgraph. */
export type AskedAnswer = (Extract<SubgraphReply, { kind: "failed" }> | SubgraphAnswer) & Source;

/** More steps than an answer has levels; the rest of a longer path is left out. */
const pathStepsMax = 200;

/** Statuses that say "not now": whatever the body is, it is not this service's word. */
const unavailableStatuses = new Set([429, 502, 503, 504]);

/** Leaves a byte order mark out. */
const utf8 = new TextDecoder();

/** Other than 2xx counts only when it brings errors: a refusal of the subgraph's own. Never throws. */
export function readSubgraphAnswer(status: number, bytes: Buffer): SubgraphAnswer {
  const text = utf8.decode(bytes);
  if (unavailableStatuses.has(status)) return unusable("SUBGRAPH_UNAVAILABLE", status, text);
  const body = parseObject(text);
  if (body === undefined) return unusable("SUBGRAPH_BAD_ANSWER", status, text);
  const data = body["data"] ?? null;
  const errors = readErrors(body["errors"] ?? []);
  if (typeof data !== "object" || Array.isArray(data) || errors === undefined)
    return unusable("SUBGRAPH_BAD_ANSWER", status, text);
  const ok = status >= 200 && status < 300;
  if (errors.length === 0 && (!ok || data === null)) return unusable("SUBGRAPH_BAD_ANSWER", status, text);
  return { kind: "graphql", data: data as Record<string, unknown> | null, errors };
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

function readPath(raw: unknown): Path | undefined {
  if (!Array.isArray(raw)) return undefined;
  const path: readonly unknown[] = raw.slice(0, pathStepsMax);
  return path.every(isStep) ? path : undefined;
}

function isStep(raw: unknown): raw is string | number {
  return typeof raw === "string" || Number.isInteger(raw);
}

function unusable(code: FetchFailureCode, status: number, text: string): SubgraphAnswer {
  return { kind: "unusable", code, why: `status ${status}, body ${JSON.stringify(text.slice(0, 500))}` };
}
