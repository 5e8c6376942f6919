// Stage 5 of 5: shape. Turns each field error of the run into an entry of `errors[]`, and masks the errors that subgraphs send.
import { type ClientCode, codes, isForwardedCode, toClientCode } from "../../errors/codes.ts";
import type { FieldError } from "../run/field-errors.ts";
import type { SubgraphError } from "../run/fetch/subgraph-response.ts";

/** GraphQL spec, section 7.1.2 "Errors". */
export interface ClientError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: ClientCode; readonly service?: string; readonly problems?: readonly object[] };
}

const messageCharactersMax = 1_000;
const problemsMax = 100;

export function toClientError({ service, path, reason, moreCount }: FieldError): ClientError {
  const content = reason.kind === "fetch-failed" ? defaultContent(reason.code) : readSubgraphError(reason.error);
  const { code, problems } = content;
  const message =
    moreCount === undefined
      ? content.message
      : `${moreCount} more fields below this path are missing. ${content.message}`;
  // A fetch that was not sent is no fault of its service.
  const blamed = code === "DEADLINE_EXCEEDED" ? {} : { service };
  const extensions = problems === undefined ? { code, ...blamed } : { code, ...blamed, problems };
  return path === undefined ? { message, extensions } : { message, path, extensions };
}

interface ErrorContent {
  readonly code: ClientCode;
  readonly message: string;
  readonly problems?: readonly object[] | undefined;
}

function defaultContent(code: ClientCode): ErrorContent {
  return { code, message: codes[code].message };
}

function readSubgraphError({ message, extensions }: SubgraphError): ErrorContent {
  const code = toClientCode(extensions["code"]);
  if (!isForwardedCode(code)) return defaultContent(code);
  const clientMessage = message === "" ? codes[code].message : message.slice(0, messageCharactersMax);
  return { code, message: clientMessage, problems: readProblems(extensions["problems"]) };
}

/** Of each problem the members `pointer`, `code` and `detail`, as strings. */
function readProblems(raw: unknown): readonly Readonly<Record<string, string>>[] | undefined {
  if (!Array.isArray(raw) || raw.length === 0) return undefined;
  return raw.slice(0, problemsMax).map((problem: unknown) => {
    const { pointer, code, detail } = (problem ?? {}) as Readonly<Record<string, unknown>>;
    return { pointer: toText(pointer), code: toText(code), detail: toText(detail) };
  });
}

function toText(value: unknown): string {
  return typeof value === "string" ? value.slice(0, messageCharactersMax) : "";
}
