import { scrubText } from "./scrub.ts";

/** What a log line tells of an error. */
export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  /** The frames alone: the message stands above. */
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  readonly errors?: readonly ErrorDescription[];
  readonly [known: string]: unknown;
}

/** Properties that say where it went wrong. All others stay out: body parsers attach the body, PostgreSQL's `detail` quotes the row. */
const knownProperties = ["code", "syscall", "address", "port", "severity", "table", "column", "constraint", "routine"];
const depthMax = 5;
const errorsMax = 5;

/** For pino's `err`: type, message, frames and causes, without what a caller sent. */
export function describeError(error: unknown, depth = depthMax): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: "something was thrown that is no error" };
  const { cause } = error;
  const many = error instanceof AggregateError && depth > 0 ? error.errors.slice(0, errorsMax) : [];
  return {
    type: error.name,
    message: tell(error),
    ...pick(error),
    ...(error.stack === undefined ? {} : { stack: framesOf(error.stack) }),
    ...(cause === undefined || depth === 0 ? {} : { cause: describeError(cause, depth - 1) }),
    ...(many.length === 0 ? {} : { errors: many.map((one) => describeError(one, depth - 1)) }),
  };
}

/** What errors quote of what they were given goes: everything from the first quote to the last. */
function tell(error: Error): string {
  const code = codeOf(error);
  // PostgreSQL's own words for a code are harmless; what a function raises by hand can be anything.
  if (code.startsWith("P0")) return "raised by a function of the database";
  const quotes =
    /^(?:SyntaxError|GraphQLError|URIError|ZodError)$/.test(error.name) || /^(?:22|ERR_INVALID)/.test(code);
  return scrubText(quotes ? error.message.replace(/["'`].*["'`]/s, '"…"') : error.message);
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

function pick(error: Error): Readonly<Record<string, string | number>> {
  const told: Record<string, string | number> = {};
  for (const name of knownProperties) {
    const value = (error as unknown as Record<string, unknown>)[name];
    if (typeof value === "number") told[name] = value;
    if (typeof value === "string") told[name] = scrubText(value);
  }
  return told;
}

function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}
