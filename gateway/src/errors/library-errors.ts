// Masks the errors that Apollo Server and graphql-js report in stage 2 (parse). Errors
// of subgraphs are masked in stage 5 (shape/client-error.ts); rejections.ts masks the errors that the gateway throws.
import type { GraphQLFormattedError } from "graphql";
import { type ClientCode, codes, isClientCode } from "./codes.ts";

const messageCharactersMax = 1_000;
/** Codes of Apollo Server and its validation rules, and the gateway's codes for the same errors. */
const codesByApolloCode: Readonly<Record<string, ClientCode>> = {
  BAD_REQUEST: "MALFORMED_REQUEST",
  MAX_RECURSIVE_SELECTIONS_EXCEEDED: "SELECTION_LIMIT_EXCEEDED",
};

/**
 * Keeps the message of an error with a code from codes.ts, up to 1,000 characters. An error with any other code is a bug: its code and message are
 * replaced by those of INTERNAL_SERVER_ERROR. Of the extensions only `code` remains.
 * @param formatted the error as the library would send it.
 * @param onBug called with `error` if the error is a bug.
 */
export function maskLibraryError(
  formatted: GraphQLFormattedError,
  error: unknown,
  onBug: (cause: unknown) => void,
): GraphQLFormattedError {
  const code = readCode(formatted);
  const location = locationOf(formatted);
  if (code === "INTERNAL_SERVER_ERROR") {
    onBug(error);
    return { message: codes[code].message, ...location, extensions: { code } };
  }
  return { message: readMessage(formatted.message), ...location, extensions: { code } };
}

interface ErrorLocation {
  locations?: NonNullable<GraphQLFormattedError["locations"]>;
  path?: NonNullable<GraphQLFormattedError["path"]>;
}

function locationOf({ locations, path }: GraphQLFormattedError): ErrorLocation {
  const location: ErrorLocation = {};
  if (locations !== undefined) location.locations = locations;
  if (path !== undefined) location.path = path;
  return location;
}

/** graphql-js reports a stack overflow during validation as a validation error. */
function readMessage(message: string): string {
  if (message === "Maximum call stack size exceeded") return "The document is nested too deeply.";
  return message.slice(0, messageCharactersMax);
}

/** An error for too many tokens has the code of a syntax error, so its message identifies it. graphql-js 16 misspells the message ("more that"). */
const tooManyTokens = /Document contains more tha[nt] \d+ tokens/;

function readCode({ message, extensions }: GraphQLFormattedError): ClientCode {
  // Some rules of Apollo Server set `validationErrorCode`, which is more exact than their `code`, GRAPHQL_VALIDATION_FAILED.
  const apolloCode = extensions?.["validationErrorCode"] ?? extensions?.["code"];
  if (apolloCode === "GRAPHQL_PARSE_FAILED" && tooManyTokens.test(message)) return "TOKEN_LIMIT_EXCEEDED";
  const code = codesByApolloCode[String(apolloCode)] ?? apolloCode;
  return isClientCode(code) ? code : "INTERNAL_SERVER_ERROR";
}
