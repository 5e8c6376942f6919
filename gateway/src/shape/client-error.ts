// Stage 5 of 5: say it. What a client reads of something that was lost.
import { type ClientCode, codes, isClientFacingCode, toClientCode } from "../errors/codes.ts";
import type { FieldLoss } from "../run/field-errors.ts";
import type { SubgraphError } from "../run/subgraph-response.ts";

/** An entry of `errors[]` (GraphQL spec, section 7.1.2 "Errors"). */
export interface ClientError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: ClientCode; readonly service?: string; readonly problems?: readonly object[] };
}

const messageCharactersMax = 1_000;
const problemsMax = 100;

/** The entry for a loss: ours to word, unless the subgraph speaks to the client on purpose. */
export function toClientError({ service, path, reason, moreCount }: FieldLoss): ClientError {
  const said = reason.kind === "fetch-failed" ? sayCode(reason.code) : saySubgraphError(reason.error);
  const message =
    moreCount === undefined ? said.message : `${moreCount} more fields below this path were lost. ${said.message}`;
  return {
    message,
    ...(path === undefined ? {} : { path }),
    extensions: { code: said.code, service, ...(said.problems && { problems: said.problems }) },
  };
}

interface Said {
  readonly code: ClientCode;
  readonly message: string;
  readonly problems?: readonly object[] | undefined;
}

function sayCode(code: ClientCode): Said {
  return { code, message: codes[code].message };
}

function saySubgraphError({ message, extensions }: SubgraphError): Said {
  const code = toClientCode(extensions["code"]);
  if (!isClientFacingCode(code)) return sayCode(code);
  const text = message.slice(0, messageCharactersMax) || codes[code].message;
  return { code, message: text, problems: readProblems(extensions["problems"]) };
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
