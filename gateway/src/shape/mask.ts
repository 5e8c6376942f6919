// Stage 5 of 5: say it. What a stranger may read of an error.
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { clientFacingSubgraphCodes, type ClientCode, codes, isClientCode } from "../errors.ts";
import type { FieldLoss } from "../run/field-loss.ts";
import type { SubgraphError } from "../run/subgraph-answer.ts";

const messageCharactersMax = 1_000;
const problemsMax = 100;

/** The entry for a loss: ours to word, unless the subgraph speaks to the client on purpose. */
export function toClientError(loss: FieldLoss): GraphQLError {
  const { service, path, moreCount } = loss;
  const said = loss.reason.kind === "fetch-failed" ? sayCode(loss.reason.code) : saySubgraphError(loss.reason.error);
  const message =
    moreCount === undefined ? said.message : `${moreCount} more fields below this path were lost. ${said.message}`;
  return new GraphQLError(message, {
    ...(path === undefined ? {} : { path }),
    extensions: { code: said.code, service, ...said.more },
  });
}

interface Said {
  readonly code: ClientCode;
  readonly message: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

function sayCode(code: ClientCode): Said {
  return { code, message: codes[code].message };
}

function saySubgraphError({ message, extensions }: SubgraphError): Said {
  const { code } = extensions;
  if (!isClientCode(code) || !clientFacingSubgraphCodes.has(code)) return sayCode("SUBGRAPH_ERROR");
  const problems = readProblems(extensions["problems"]);
  return {
    code,
    message: message.slice(0, messageCharactersMax) || codes[code].message,
    ...(problems === undefined ? {} : { more: { problems } }),
  };
}

/** Only what the contract names: pointer, code, detail. */
function readProblems(raw: unknown): readonly Readonly<Record<string, string>>[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  return raw.slice(0, problemsMax).map((problem: unknown) => {
    const { pointer, code, detail } = (problem ?? {}) as Readonly<Record<string, unknown>>;
    return { pointer: text(pointer), code: text(code), detail: text(detail) };
  });
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, messageCharactersMax) : "";
}

/** Names that Apollo Server or its rules give, and ours for the same thing. */
const renamed: Readonly<Record<string, ClientCode>> = {
  BAD_REQUEST: "MALFORMED_REQUEST",
  MAX_RECURSIVE_SELECTIONS_EXCEEDED: "SELECTION_LIMIT_EXCEEDED",
};

/**
 * Apollo Server's last word on each error. A code of our list passes with its message; everything else is a bug, masked.
 * @param onBug gets what was masked.
 */
export function maskError(
  formatted: GraphQLFormattedError,
  error: unknown,
  onBug: (cause: unknown) => void,
): GraphQLFormattedError {
  const code = readCode(formatted);
  const place = {
    ...(formatted.locations === undefined ? {} : { locations: formatted.locations }),
    ...(formatted.path === undefined ? {} : { path: formatted.path }),
  };
  if (code === "INTERNAL_SERVER_ERROR") {
    onBug(error);
    return { message: codes[code].message, ...place, extensions: { code } };
  }
  const { service, problems } = formatted.extensions ?? {};
  const more = { ...(service === undefined ? {} : { service }), ...(problems === undefined ? {} : { problems }) };
  return { message: readMessage(formatted.message), ...place, extensions: { code, ...more } };
}

function readMessage(message: string): string {
  if (message === "Maximum call stack size exceeded") return "The document is nested too deeply.";
  return message.slice(0, messageCharactersMax);
}

function readCode({ message, extensions }: GraphQLFormattedError): ClientCode {
  const code = extensions?.["validationErrorCode"] ?? extensions?.["code"];
  if (code === "GRAPHQL_PARSE_FAILED" && /Document contains more tha[nt] \d+ tokens/.test(message))
    return "TOKEN_LIMIT_EXCEEDED";
  const ours = renamed[String(code)] ?? code;
  return isClientCode(ours) ? ours : "INTERNAL_SERVER_ERROR";
}
