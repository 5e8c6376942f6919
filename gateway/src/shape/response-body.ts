// Stage 5 of 5: say it. A run's result as the bytes of a client's answer: errors first, as the GraphQL spec advises ("Response Format").
import { codes } from "../errors/codes.ts";
import type { CompiledPlan } from "../plan/compile/compiled-plan.ts";
import type { FieldLoss } from "../run/field-errors.ts";
import type { RunResult } from "../run/run.ts";
import type { Path } from "../run/subgraph-response.ts";
import type { Told } from "../telemetry/request-record.ts";
import { type ClientError, toClientError } from "./client-error.ts";
import { JsonBytes } from "./json-bytes.ts";
import { type FieldProblem, isDataNull, writeData } from "./write-data.ts";

export interface WrittenAnswer {
  /** JSON in UTF-8. */
  readonly body: Buffer;
  /** Values that broke the schema: for the log. */
  readonly problems: readonly FieldProblem[];
  /** Undefined: all is well. */
  readonly told: Told | undefined;
}

const dataStart = '{"data":'.length;

/** For all answers: each is written at once, and nothing comes between. */
const out = new JsonBytes();

/** The errors are known when the data is written, and stand before it (GraphQL spec, "Response Format", as it advises). */
export function writeAnswerBody(plan: CompiledPlan, { root, joins, losses }: RunResult): WrittenAnswer {
  out.rewind(0);
  out.writeRaw('{"data":');
  const { problems, problemCount } = writeData(plan, root, joins, out);
  out.writeRaw("}");
  const body = out.take();
  if (losses.length === 0 && problemCount === 0) return { body, problems, told: undefined };
  const news = withoutTold(problems, losses);
  const errors = [...losses.map(toClientError), ...news.map(toProblemError)];
  if (problemCount > problems.length) errors.push(toSummary(problemCount - problems.length));
  if (errors.length === 0) return { body, problems: news, told: undefined };
  return {
    told: { outcome: isNull(body) ? "failed" : "partial", codes: errors.map(({ extensions }) => extensions.code) },
    body: Buffer.concat([Buffer.from(`{"errors":${JSON.stringify(errors)},`), body.subarray(1)]),
    problems: news,
  };
}

/** See `isDataNull` in write-data.ts. Uses the buffer that responses are written to, between two of them. */
export function isDataNullSoFar(
  plan: CompiledPlan,
  fetched: Pick<RunResult, "root" | "joins">,
  fieldCount: number,
): boolean {
  out.rewind(0);
  return isDataNull(plan, fetched, fieldCount, out);
}

/** Of `{"data":null}`. */
function isNull(body: Buffer): boolean {
  return body[dataStart] === "n".codePointAt(0);
}

function toProblemError({ path, code, service }: FieldProblem): ClientError {
  const { message } = codes[code];
  // A response of the subgraph that lacks a field is its fault; of a value that does not fit, the cause may be the schema.
  const isNamed = service !== undefined && code === "SUBGRAPH_BAD_ANSWER";
  return {
    message,
    ...(path.length > 0 ? { path } : {}),
    extensions: { code, ...(isNamed ? { service } : {}) },
  };
}

function toSummary(count: number): ClientError {
  const code = "INVALID_FIELD_VALUE";
  return { message: `${count} more values do not fit the schema.`, extensions: { code } };
}

/**
 * A null that only follows from a loss already told is not told again (GraphQL spec, "Handling Field Errors": one error for each
 * field).
 */
function withoutTold(problems: readonly FieldProblem[], losses: readonly FieldLoss[]): readonly FieldProblem[] {
  if (losses.length === 0 || problems.length === 0) return problems;
  const told = createPathSet(losses);
  return problems.filter(({ path }) => !told.touches(path));
}

/** Answers whether a path is one of these, lies below one, or above one. */
function createPathSet(losses: readonly FieldLoss[]) {
  const exact = new Set<string>();
  const above = new Set<string>();
  for (const { path, moreCount } of losses) {
    if (path === undefined) continue;
    const keys = prefixes(path);
    exact.add(keys.at(-1) ?? "");
    // The summary of a long list stands for everything below it, but says nothing of what is above.
    if (moreCount === undefined) for (const key of keys) above.add(key);
  }
  return {
    touches: (path: Path) => above.has(JSON.stringify(path)) || prefixes(path).some((key) => exact.has(key)),
  };
}

function prefixes(path: Path): readonly string[] {
  return path.map((_, i) => JSON.stringify(path.slice(0, i + 1)));
}
