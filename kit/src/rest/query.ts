import { AppError, type ErrorCode, type ParameterProblem } from "../errors/app-error.ts";

export interface ParsedQuery {
  /** Decoded, by name: of each known parameter its first value. */
  readonly values: ReadonlyMap<string, string>;
  /** Unknown, repeated and undecodable parameters, each once; at most 100. */
  readonly problems: readonly ParameterProblem[];
}

const emptyQuery: ParsedQuery = { values: new Map(), problems: [] };
const problemsMax = 100;

/**
 * Called by `rest-endpoint.ts` for each request. Never throws, so that the handler can report these problems together with its own, by
 * `invalidQuery`.
 * @param query without its question mark.
 * @param known the names that the route declares.
 */
export function parseQuery(query: string, known: readonly string[]): ParsedQuery {
  if (query === "") return emptyQuery;
  const values = new Map<string, string>();
  const problems = new Map<string, ParameterProblem>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const sentName = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(sentName);
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    const problem = findProblem({ name, value }, values, known);
    if (problem) addProblem(problems, { parameter: (name ?? sentName).slice(0, 64), ...problem });
    // Without a problem both are defined: the `??` are only for the types.
    else values.set(name ?? "", value ?? "");
  }
  return { values, problems: [...problems.values()] };
}

/**
 * Creates the 400 with every problem of a query: UNKNOWN_PARAMETER or INVALID_CURSOR if that describes all problems, otherwise
 * MALFORMED_REQUEST.
 * @param problems at least one.
 */
export function invalidQuery(problems: readonly ParameterProblem[]): AppError {
  const message =
    problems.length === 1 ? problems[0]?.detail : `${problems.length} query parameters are not acceptable.`;
  const [code = "MALFORMED_REQUEST", ...others] = new Set(problems.map((problem) => errorCodes[problem.code]));
  return new AppError(others.length === 0 ? code : "MALFORMED_REQUEST", message ?? "", { parameterProblems: problems });
}

/** The error codes for problem codes that have their own. */
const errorCodes: Readonly<Record<string, ErrorCode>> = {
  unknown_parameter: "UNKNOWN_PARAMETER",
  invalid_cursor: "INVALID_CURSOR",
};

interface QueryParameter {
  /** Undefined if it is not percent-encoded UTF-8. */
  readonly name: string | undefined;
  readonly value: string | undefined;
}

function findProblem(
  { name, value }: QueryParameter,
  values: ReadonlyMap<string, string>,
  known: readonly string[],
): Omit<ParameterProblem, "parameter"> | undefined {
  if (name === undefined || value === undefined) {
    return { code: "bad_encoding", detail: "The query is not text in percent-encoded UTF-8." };
  }
  if (!known.includes(name)) {
    const choice = known.length > 0 ? `This path accepts ${known.join(", ")}.` : "This path accepts none.";
    const detail = `There is no query parameter ${JSON.stringify(name.slice(0, 64))} here. ${choice}`;
    return { code: "unknown_parameter", detail };
  }
  if (!values.has(name)) return undefined;
  return { code: "repeated", detail: `The query parameter ${name} may be given once.` };
}

function addProblem(problems: Map<string, ParameterProblem>, problem: ParameterProblem): void {
  const key = `${problem.code} ${problem.parameter}`;
  if (problems.size < problemsMax || problems.has(key)) problems.set(key, problem);
}

/** A plus is a space, as in forms and in URLSearchParams. NUL is rejected, since no PostgreSQL text can contain it. */
function decode(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text.replaceAll("+", " "));
    return value.includes("\0") ? undefined : value;
  } catch {
    return undefined;
  }
}
