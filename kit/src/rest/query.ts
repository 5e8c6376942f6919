import { AppError, type ErrorCode, type ParameterProblem } from "../errors/app-error.ts";

export interface ParsedQuery {
  /** Decoded, by name: the first value of each known parameter. */
  readonly values: ReadonlyMap<string, string>;
  /** Unknown, repeated and undecodable parameters, each once; at most 100. */
  readonly problems: readonly ParameterProblem[];
}

const nothing: ParsedQuery = { values: new Map(), problems: [] };
const problemsMax = 100;

/** @param query without its question mark. */
export function parseQuery(query: string, known: readonly string[]): ParsedQuery {
  if (query === "") return nothing;
  const values = new Map<string, string>();
  const problems = new Map<string, ParameterProblem>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const sent = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(sent);
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const problem = findProblem({ name, value }, values, known);
    if (problem) note(problems, { parameter: (name ?? sent).slice(0, 64), ...problem });
    else values.set(name ?? "", value ?? "");
  }
  return { values, problems: [...problems.values()] };
}

/**
 * A 400 with every problem of a query. Its code is the most specific one that holds for all of them.
 * @param problems at least one.
 */
export function invalidQuery(problems: readonly ParameterProblem[]): AppError {
  const message =
    problems.length === 1 ? problems[0]?.detail : `${problems.length} query parameters are not acceptable.`;
  const [code, ...others] = new Set(problems.map((problem) => errorCodes[problem.code] ?? "MALFORMED_REQUEST"));
  const isOne = code !== undefined && others.length === 0;
  return new AppError(isOne ? code : "MALFORMED_REQUEST", message ?? "", { parameterProblems: problems });
}

const errorCodes: Readonly<Record<string, ErrorCode>> = {
  unknown_parameter: "UNKNOWN_PARAMETER",
  invalid_cursor: "INVALID_CURSOR",
};

interface Pair {
  /** Undefined for what is not percent-encoded UTF-8. */
  readonly name: string | undefined;
  readonly value: string | undefined;
}

function findProblem(
  { name, value }: Pair,
  values: ReadonlyMap<string, string>,
  known: readonly string[],
): Omit<ParameterProblem, "parameter"> | undefined {
  if (name === undefined || value === undefined) {
    return { code: "bad_encoding", detail: "The query is not text in percent-encoded UTF-8." };
  }
  if (!known.includes(name)) {
    const choice = known.length > 0 ? `This path knows ${known.join(", ")}.` : "This path takes none.";
    const detail = `There is no query parameter ${JSON.stringify(name.slice(0, 64))} here. ${choice}`;
    return { code: "unknown_parameter", detail };
  }
  if (!values.has(name)) return undefined;
  return { code: "repeated", detail: `The query parameter ${name} may be given once.` };
}

function note(problems: Map<string, ParameterProblem>, problem: ParameterProblem): void {
  const key = `${problem.code} ${problem.parameter}`;
  if (problems.size < problemsMax || problems.has(key)) problems.set(key, problem);
}

/** A plus is a space, as in forms and in URLSearchParams. NUL is refused: no text column can hold it. */
function decode(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text.replaceAll("+", " "));
    return value.includes("\0") ? undefined : value;
  } catch {
    return undefined;
  }
}
