// Stage 5 of 5: shape. Writes the response body from a run's result: `errors` first, as the GraphQL spec recommends ("Response Format").
// supergraph-stages.ts calls it once per request, or once for several requests with the same shared data.
import { codes } from "../errors/codes.ts";
import type { CompiledPlan } from "../plan/compile/compiled-plan.ts";
import type { ResultSummary } from "../result-summary.ts";
import type { FieldError } from "../run/field-errors.ts";
import type { RunResult } from "../run/run.ts";
import type { ResponsePath } from "../run/fetch/subgraph-response.ts";
import { type ClientError, toClientError } from "./client-error.ts";
import { JsonBytes } from "./json-bytes.ts";
import { type FetchedData, type FieldProblem, isDataNull, writeData } from "./write-data.ts";

export interface ShapedBody {
  /** JSON in UTF-8. */
  readonly body: Buffer;
  /** For the log, the first 100: values that do not fit the schema and fields without a value, unless their nulls follow from a field error. */
  readonly problems: readonly FieldProblem[];
  /** Undefined: a response without errors. */
  readonly summary: ResultSummary | undefined;
}

/** The index in the body of the first byte of the data. */
const dataStart = '{"data":'.length;

/** Problems that are no fault of a subgraph. A subgraph may return null for an entity: it does not exist, or this client may not read it. */
const messages: Partial<Record<FieldProblem["code"], string>> = {
  BAD_USER_INPUT: "A variable of this field is null where the schema expects a value.",
  NOT_FOUND: "The object of this field is not available.",
};

/** One buffer for all responses: each is written in one synchronous call. */
const out = new JsonBytes();

/** Writes the data first, since its errors are known only then, and puts the errors before it. */
export function writeResponseBody(plan: CompiledPlan, result: RunResult): ShapedBody {
  const { fieldErrors } = result;
  out.rewind(0);
  out.writeRaw('{"data":');
  const { problems, problemCount } = writeData(plan, result, out);
  out.writeRaw("}");
  const body = out.take();
  if (fieldErrors.length === 0 && problemCount === 0) return { body, problems, summary: undefined };
  const newProblems = withoutPropagatedNulls(problems, fieldErrors);
  const errors = [...fieldErrors.map(toClientError), ...newProblems.map(toProblemError)];
  const unlistedCount = problemCount - problems.length;
  const lastProblem = problems.at(-1);
  if (unlistedCount > 0 && lastProblem) errors.push(toCountError(unlistedCount, lastProblem));
  const outcome = isNull(body) ? "failed" : "partial";
  const bodyStart = Buffer.from(`{"errors":${JSON.stringify(errors)},`);
  return {
    summary: { outcome, codes: errors.map(({ extensions }) => extensions.code) },
    // Without the `{` of the body.
    body: Buffer.concat([bodyStart, body.subarray(1)]),
    problems: newProblems.filter(({ code }) => messages[code] === undefined),
  };
}

/**
 * Whether `data` is null already after the first `fieldCount` root fields: then the run of a mutation sends no further fetches. Uses the buffer for
 * bodies, because no body is being written during a run.
 */
export function isDataNullSoFar(plan: CompiledPlan, fetched: FetchedData, fieldCount: number): boolean {
  out.rewind(0);
  return isDataNull(plan, fetched, fieldCount, out);
}

/** Whether the body is `{"data":null}`. */
function isNull(body: Buffer): boolean {
  return body[dataStart] === "n".codePointAt(0);
}

function toProblemError({ path, code, service }: FieldProblem): ClientError {
  const message = messages[code] ?? codes[code].message;
  // SUBGRAPH_INVALID_RESPONSE is the subgraph's fault. A value that does not fit may be the schema's, so the subgraph is not named.
  const isNamed = service !== undefined && code === "SUBGRAPH_INVALID_RESPONSE";
  const extensions = isNamed ? { code, service } : { code };
  return path.length > 0 ? { message, path, extensions } : { message, extensions };
}

/** The entry for the problems that are not listed. They mostly have one cause, so it has the code of the last one that is listed. */
function toCountError(count: number, { code }: FieldProblem): ClientError {
  return { message: `${count} more fields have an error.`, extensions: { code } };
}

/**
 * Leaves out problems at, above or below the path of a field error: their nulls follow from that error, and each field has one error (GraphQL spec,
 * "Handling Field Errors").
 */
function withoutPropagatedNulls(
  problems: readonly FieldProblem[],
  fieldErrors: readonly FieldError[],
): readonly FieldProblem[] {
  if (fieldErrors.length === 0 || problems.length === 0) return problems;
  const explainedPaths = createPathSet(fieldErrors);
  return problems.filter(({ path }) => !explainedPaths.contains(path));
}

/** Contains each path of a field error, and the paths above and below it. */
function createPathSet(fieldErrors: readonly FieldError[]) {
  const errorPaths = new Set<string>();
  const errorPathPrefixes = new Set<string>();
  for (const { path, moreCount } of fieldErrors) {
    if (path === undefined) continue;
    const prefixes = listPrefixes(path);
    // `""` is for the type only: a path has at least one step.
    errorPaths.add(prefixes.at(-1) ?? "");
    // An entry with `moreCount` stands for errors below its path that are not listed: it explains no null above its path.
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

/** The prefixes of a path as JSON, from its first step to the whole path. */
function listPrefixes(path: ResponsePath): readonly string[] {
  return path.map((_, i) => JSON.stringify(path.slice(0, i + 1)));
}
