import { AppError, type ErrorCode, type ParameterProblem } from "../errors/app-error.ts";

export interface ParsedQuery {
  readonly values: ReadonlyMap<string, string>;
  /** Each once; at most 100. */
  readonly problems: readonly ParameterProblem[];
}

const emptyQuery: ParsedQuery = { values: new Map(), problems: [] };
const problemsMax = 100;
const nameCharsMax = 64;

/** Never throws, so that a handler can report these problems together with its own. @param query without its question mark. */
export function parseQuery(query: string, knownNames: readonly string[]): ParsedQuery {
  if (query === "") return emptyQuery;
  const values = new Map<string, string>();
  const problems = new Map<string, ParameterProblem>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equalsIndex = pair.indexOf("=");
    const sentName = equalsIndex === -1 ? pair : pair.slice(0, equalsIndex);
    const sentValue = equalsIndex === -1 ? "" : pair.slice(equalsIndex + 1);
    const name = decode(sentName);
    const value = decode(sentValue);
    const problem = findProblem({ name, value }, values, knownNames);
    if (problem) {
      const parameter = (name ?? sentName).slice(0, nameCharsMax);
      addProblem(problems, { parameter, code: problem.code, detail: problem.detail });
    } else {
      values.set(name ?? "", value ?? "");
    }
  }
  return { values, problems: [...problems.values()] };
}

const errorCodes: Readonly<Record<string, ErrorCode>> = {
  unknown_parameter: "UNKNOWN_PARAMETER",
  invalid_cursor: "INVALID_CURSOR",
};

/** UNKNOWN_PARAMETER or INVALID_CURSOR if that describes all problems, otherwise MALFORMED_REQUEST. @param problems at least one. */
export function invalidQuery(problems: readonly ParameterProblem[]): AppError {
  const [firstProblem] = problems;
  const message =
    problems.length === 1 && firstProblem
      ? firstProblem.detail
      : `${problems.length} query parameters are not acceptable.`;
  const codes = new Set(problems.map((problem) => errorCodes[problem.code] ?? "MALFORMED_REQUEST"));
  const [firstCode = "MALFORMED_REQUEST"] = codes;
  const code = codes.size === 1 ? firstCode : "MALFORMED_REQUEST";
  return new AppError(code, message, { parameterProblems: problems });
}

interface QueryParameter {
  readonly name: string | undefined;
  readonly value: string | undefined;
}

function findProblem(
  { name, value }: QueryParameter,
  values: ReadonlyMap<string, string>,
  knownNames: readonly string[],
): Omit<ParameterProblem, "parameter"> | undefined {
  if (name === undefined || value === undefined) {
    return { code: "bad_encoding", detail: "The query is not text in percent-encoded UTF-8." };
  }
  if (!knownNames.includes(name)) {
    const choice = knownNames.length > 0 ? `This path accepts ${knownNames.join(", ")}.` : "This path accepts none.";
    const detail = `There is no query parameter ${JSON.stringify(name.slice(0, nameCharsMax))} here. ${choice}`;
    return { code: "unknown_parameter", detail };
  }
  if (!values.has(name)) return undefined;
  return { code: "repeated", detail: `The query parameter ${name} may be given once.` };
}

function addProblem(problems: Map<string, ParameterProblem>, problem: ParameterProblem): void {
  const key = `${problem.code} ${problem.parameter}`;
  if (problems.size < problemsMax || problems.has(key)) problems.set(key, problem);
}

/** Undefined if it is invalid. A plus is a space, as in forms. NUL is rejected, since no PostgreSQL text can contain it. */
function decode(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text.replaceAll("+", " "));
    return value.includes("\0") ? undefined : value;
  } catch {
    return undefined;
  }
}
