// Stage 5 of 5: say it. What a stranger may read of an error.
import type { GraphQLFormattedError } from "graphql";
import { type ClientCode, codes, isClientCode } from "./codes.ts";

const messageCharactersMax = 1_000;
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
