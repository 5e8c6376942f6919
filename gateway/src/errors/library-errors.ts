// Masks the errors that Apollo Server and graphql-js report in stage 2 (parse).
import type { GraphQLFormattedError } from "graphql";
import { type ClientCode, codes, isClientCode } from "./codes.ts";

const messageCharactersMax = 1_000;
const codesByApolloCode: Readonly<Record<string, ClientCode>> = {
  BAD_REQUEST: "MALFORMED_REQUEST",
  MAX_RECURSIVE_SELECTIONS_EXCEEDED: "SELECTION_LIMIT_EXCEEDED",
};

/**
 * Keeps the message of an error with a code from codes.ts, up to 1,000 characters; any other error is a bug. Of the extensions only `code` remains.
 * @param formatted the error as the library would send it.
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

/** It has the code of a syntax error. graphql-js 16 misspells the message ("more that"). */
const tooManyTokens = /Document contains more tha[nt] \d+ tokens/;

function readCode({ message, extensions }: GraphQLFormattedError): ClientCode {
  // More exact than `code`, which is GRAPHQL_VALIDATION_FAILED.
  const apolloCode = extensions?.["validationErrorCode"] ?? extensions?.["code"];
  if (apolloCode === "GRAPHQL_PARSE_FAILED" && tooManyTokens.test(message)) return "TOKEN_LIMIT_EXCEEDED";
  const code = codesByApolloCode[String(apolloCode)] ?? apolloCode;
  return isClientCode(code) ? code : "INTERNAL_SERVER_ERROR";
}
