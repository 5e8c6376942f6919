// Stage 5 of 5: shape. Turns each field error of the run into an entry of `errors[]`.
import { scrubText } from "@tributary/kit/errors/scrub";
import { codes, fieldMessageOf, toMaskedCode } from "../../errors/codes.ts";
import type { FieldError, FieldErrorReason } from "../run/field-errors.ts";
import type { SubgraphError } from "../run/fetch/subgraph-response.ts";

/** GraphQL spec, section 7.1.2 "Errors". */
export interface ClientError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** @param explainFor the id of a developer's request: masked errors then have a `cause`, which may contain secrets. */
export function toClientError(
  { service, path, reason, moreCount }: FieldError,
  explainFor: string | undefined,
): ClientError {
  const content = reason.kind === "fetch-failed" ? contentOfFailure(reason) : contentOf(reason.error, explainFor);
  const { code } = content;
  const message =
    moreCount === undefined
      ? content.message
      : `${moreCount} more fields below this path are missing. ${content.message}`;
  // A fetch that was not sent is no fault of its service.
  const blamed = code === "DEADLINE_EXCEEDED" ? {} : { service };
  const extensions = { ...content.extensions, code, ...blamed };
  return path === undefined ? { message, extensions } : { message, path, extensions };
}

function contentOfFailure({ code, retryAfterSeconds }: Extract<FieldErrorReason, { kind: "fetch-failed" }>) {
  const extensions = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { code, message: codes[code].message, extensions };
}

function contentOf(error: SubgraphError, explainFor: string | undefined) {
  const { public: published } = error;
  if (published) return { ...published, message: published.message ?? fieldMessageOf(published.code) };
  const code = toMaskedCode(error.extensions["code"]);
  const extensions = explainFor === undefined ? {} : { cause: describeCause(error, explainFor) };
  return { code, message: codes[code].message, extensions };
}

const ownFrame = /^\s*at (?!.*(?:node_modules|node:|<anonymous>))/;

/** Servers in development send `stacktrace` (Apollo Server): the message, which `message` may mask, and the frames. Mail addresses and tokens are removed. */
function describeCause({ message, extensions: { stacktrace } }: SubgraphError, requestId: string) {
  const lines = Array.isArray(stacktrace) ? stacktrace.filter((line) => typeof line === "string") : [];
  return { message: scrubText(lines[0] ?? message), at: lines.find((line) => ownFrame.test(line))?.trim(), requestId };
}
