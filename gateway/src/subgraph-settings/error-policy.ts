// Which errors of a subgraph clients get, and what of them. Everything else is masked: it may contain secrets.
import type { ErrorPolicyFileSettings } from "./subgraph-schema.ts";

/** What a client gets of a subgraph's error. */
export interface PublicError {
  readonly code: string;
  /** Undefined: the default message of the code. */
  readonly message: string | undefined;
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface ErrorPolicy {
  /** Undefined: the error is masked. */
  publish(message: string, extensions: Readonly<Record<string, unknown>>): PublicError | undefined;
}

/** Codes that Apollo Server, GraphQL Yoga and most subgraph libraries use for faults of the request. */
export const defaultPublicCodes = ["BAD_USER_INPUT", "UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND"] as const;

const messageCharactersMax = 1_000;
const problemsMax = 100;
/** Of one extension. One with more is left out. */
const valuesMax = 1_000;
const depthMax = 20;
/** Names and texts of one extension: one error can be at 100 fields. */
const charactersMax = 10_000;
/** The gateway writes these itself, and a stack trace is never for clients. */
const ownExtensions: ReadonlySet<string> = new Set(["code", "service", "problems", "stacktrace", "exception"]);

export function createErrorPolicy(settings: ErrorPolicyFileSettings): ErrorPolicy {
  const { codes = [], extensions: extensionNames = [], messages = "pass" } = settings;
  const publicCodes: ReadonlySet<string> | undefined =
    codes === "all" ? undefined : new Set<string>([...defaultPublicCodes, ...codes]);
  const names = extensionNames.filter((name) => !ownExtensions.has(name));
  return {
    publish(message, extensions) {
      const { code } = extensions;
      if (typeof code !== "string" || !codeSyntax.test(code)) return undefined;
      const isPublic = publicCodes ? publicCodes.has(code) : !isInternal(code);
      if (!isPublic) return undefined;
      const isPassed = messages === "pass" && message !== "";
      return {
        code,
        message: isPassed ? message.slice(0, messageCharactersMax) : undefined,
        extensions: pickExtensions(extensions, names),
      };
    },
  };
}

const codeSyntax = /^[\w.:-]{1,100}$/;
/** With `codes: all`: what servers send for an unexpected exception, and what the gateway says of a subgraph that fails. */
function isInternal(code: string): boolean {
  return code === "INTERNAL_SERVER_ERROR" || code === "SERVICE_UNAVAILABLE" || code.startsWith("SUBGRAPH_");
}

function pickExtensions(
  extensions: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  const picked: Record<string, unknown> = {};
  const problems = readProblems(extensions["problems"]);
  if (problems) picked["problems"] = problems;
  for (const name of names) {
    const value = Object.hasOwn(extensions, name)
      ? copyBounded(extensions[name], { valuesLeft: valuesMax, charactersLeft: charactersMax }, 0)
      : undefined;
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** Of each problem (kit/src/errors/app-error.ts) the members `pointer`, `code` and `detail`, as strings. */
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

/** Texts are cut. Undefined for a value that is too large, too deep, or no JSON that a double can represent. */
function copyBounded(value: unknown, budget: { valuesLeft: number; charactersLeft: number }, depth: number): unknown {
  if (--budget.valuesLeft < 0 || depth > depthMax) return undefined;
  if (typeof value === "string") {
    const text = value.slice(0, messageCharactersMax);
    return (budget.charactersLeft -= text.length) < 0 ? undefined : text;
  }
  if (typeof value === "bigint" || value === Infinity || value === -Infinity) return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const entries = value.slice(0, valuesMax + 1).map((entry: unknown) => copyBounded(entry, budget, depth + 1));
    return entries.includes(undefined) ? undefined : entries;
  }
  const members = Object.entries(value).map(([key, member]) => {
    budget.charactersLeft -= key.length;
    return [key, budget.charactersLeft < 0 ? undefined : copyBounded(member, budget, depth + 1)] as const;
  });
  return members.some(([, member]) => member === undefined) ? undefined : Object.fromEntries(members);
}
