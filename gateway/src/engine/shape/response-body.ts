// Stage 5 of 5: shape. Writes the response body: `errors` first, as the GraphQL spec recommends ("Response Format").
import { codes } from "../../errors/codes.ts";
import type { CompiledPlan } from "../plan/compile/compiled-plan.ts";
import type { ResultSummary } from "../../result-summary.ts";
import type { FieldError } from "../run/field-errors.ts";
import type { RunResult } from "../run/run.ts";
import type { ResponsePath } from "../run/fetch/subgraph-response.ts";
import { type ClientError, toClientError } from "./client-error.ts";
import { JsonBytes } from "./json-bytes.ts";
import { type FetchedData, type FieldProblem, isDataNull, type IsExplained, writeData } from "./write-data.ts";

export interface ShapedBody {
  /** JSON in UTF-8. */
  readonly body: Buffer;
  /** Whether no other client request may get the same buffer. */
  readonly isOwn: boolean;
  /** For the log, the first 100, without nulls that follow from a field error. */
  readonly problems: readonly FieldProblem[];
  /** Undefined without errors. */
  readonly summary: ResultSummary | undefined;
}

const tooLarge: ClientError = { message: codes.RESULT_TOO_LARGE.message, extensions: { code: "RESULT_TOO_LARGE" } };

/** In place of a result whose run or shape stage throws ResultTooLarge. */
export const tooLargeBody: ShapedBody = {
  body: Buffer.from(JSON.stringify({ errors: [tooLarge], data: null })),
  isOwn: false,
  problems: [],
  summary: { outcome: "failed", codes: ["RESULT_TOO_LARGE"] },
};

const dataStart = '{"data":'.length;

/** No fault of a subgraph, which may return null for an entity that does not exist or that this client may not read. */
const messages: Partial<Record<FieldProblem["code"], string>> = {
  BAD_USER_INPUT: "A variable of this field is null where the schema expects a value.",
  NOT_FOUND: "The object of this field is not available.",
};

/** For all responses: each is written in one synchronous call. */
const out = new JsonBytes();

/** Writes the data first, since its errors are known only then. @param explainFor as in `toClientError`. */
export function writeResponseBody(plan: CompiledPlan, result: RunResult, explainFor?: string): ShapedBody {
  const { fieldErrors, mayMemoize } = result;
  const isOwn = !mayMemoize;
  out.rewind(0);
  out.writeRaw('{"data":');
  // A null that follows from a field error is no further error (GraphQL spec, "Handling Field Errors").
  const { problems, problemCount } = writeData(plan, result, out, explainedBy(fieldErrors));
  out.writeRaw("}");
  const body = out.take();
  if (fieldErrors.length === 0 && problemCount === 0) return { body, isOwn, problems, summary: undefined };
  const errors = [...fieldErrors.map((error) => toClientError(error, explainFor)), ...problems.map(toProblemError)];
  const unlistedCount = problemCount - problems.length;
  const lastProblem = problems.at(-1);
  if (unlistedCount > 0 && lastProblem) errors.push(toCountError(unlistedCount, lastProblem));
  const outcome = isNull(body) ? "failed" : "partial";
  const bodyStart = Buffer.from(`{"errors":${JSON.stringify(errors)},`);
  return {
    isOwn,
    summary: { outcome, codes: errors.map(({ extensions }) => extensions.code) },
    body: Buffer.concat([bodyStart, body.subarray(1)]),
    problems: problems.filter(({ code }) => messages[code] === undefined),
  };
}

/** After the first `fieldCount` root fields: then a mutation sends no further fetches. No body is being written during a run. */
export function isDataNullSoFar(plan: CompiledPlan, fetched: FetchedData, fieldCount: number): boolean {
  out.rewind(0);
  return isDataNull(plan, fetched, fieldCount, out);
}

function isNull(body: Buffer): boolean {
  return body[dataStart] === "n".codePointAt(0);
}

function toProblemError({ path, code, service }: FieldProblem): ClientError {
  const message = messages[code] ?? codes[code].message;
  // A value that does not fit may be the schema's fault, so the subgraph is not named.
  const isNamed = service !== undefined && code === "SUBGRAPH_INVALID_RESPONSE";
  const extensions = isNamed ? { code, service } : { code };
  return path.length > 0 ? { message, path, extensions } : { message, extensions };
}

/** They mostly have one cause, so it has the code of the last one that is listed. */
function toCountError(count: number, { code }: FieldProblem): ClientError {
  return { message: `${count} more fields have an error.`, extensions: { code } };
}

/** Whether a null follows from one of them. Most results have no field error, and many with some have no such null. */
function explainedBy(fieldErrors: readonly FieldError[]): IsExplained | undefined {
  if (fieldErrors.length === 0) return undefined;
  let explainedPaths: ReturnType<typeof createPathSet> | undefined;
  return (path) => (explainedPaths ??= createPathSet(fieldErrors)).contains(path);
}

function createPathSet(fieldErrors: readonly FieldError[]) {
  const errorPaths = new Set<string>();
  const errorPathPrefixes = new Set<string>();
  for (const { path, moreCount } of fieldErrors) {
    if (path === undefined) continue;
    const prefixes = listPrefixes(path);
    errorPaths.add(prefixes.at(-1) ?? "");
    // Such an entry stands for errors below its path that are not listed: it explains no null above its path.
    if (moreCount !== undefined) continue;
    for (const prefix of prefixes) errorPathPrefixes.add(prefix);
  }
  return {
    contains(path: ResponsePath): boolean {
      const isAtOrAboveError = errorPathPrefixes.has(JSON.stringify(path));
      return isAtOrAboveError || listPrefixes(path).some((prefix) => errorPaths.has(prefix));
    },
  };
}

/** As JSON, from the first step to the whole path. */
function listPrefixes(path: ResponsePath): readonly string[] {
  return path.map((_, i) => JSON.stringify(path.slice(0, i + 1)));
}
