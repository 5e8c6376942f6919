import { scrubText } from "./scrub.ts";

export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  readonly errors?: readonly ErrorDescription[];
  readonly [known: string]: unknown;
}

/** Properties that are logged. Others may contain client data: body parsers attach the body, PostgreSQL's `detail` quotes the row. */
const knownProperties = ["code", "syscall", "address", "port", "severity", "table", "column", "constraint", "routine"];
const depthMax = 5;
const errorsMax = 5;

/** Redacts what a client sent from the messages of known libraries; any other message is logged, without mail addresses and tokens. */
export function describeError(error: unknown, depth = depthMax): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: "a value that is not an Error was thrown" };
  const { stack, cause } = error;
  const description: MutableDescription = { type: error.name, message: redactMessage(error), ...pickKnown(error) };
  if (stack !== undefined) description.stack = framesOf(stack);
  if (depth === 0) return description;
  if (cause !== undefined) description.cause = describeError(cause, depth - 1);
  if (error instanceof AggregateError) {
    const errors: readonly unknown[] = error.errors.slice(0, errorsMax);
    if (errors.length > 0) description.errors = errors.map((nested) => describeError(nested, depth - 1));
  }
  return description;
}

type MutableDescription = { -readonly [Name in keyof ErrorDescription]: ErrorDescription[Name] };

/** Names of errors whose messages quote their input. */
const quotingNames = /^(?:SyntaxError|GraphQLError|URIError|ZodError)$/;
/** Codes of errors whose messages quote their input: PostgreSQL's class 22 (data exception), and Node's errors for invalid arguments. */
const quotingCodes = /^(?:22|ERR_INVALID)/;
const quotation = /["'`].*["'`]/s;

function redactMessage(error: Error): string {
  const code = codeOf(error);
  // P0: raised by a PL/pgSQL function. The whole message may be data.
  if (code.startsWith("P0")) return "raised by a database function";
  const quotesInput = quotingNames.test(error.name) || quotingCodes.test(code);
  const message = quotesInput ? error.message.replace(quotation, '"…"') : error.message;
  return scrubText(message);
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

function pickKnown(error: Error): Readonly<Record<string, string | number>> {
  const picked: Record<string, string | number> = {};
  for (const name of knownProperties) {
    const value = (error as unknown as Record<string, unknown>)[name];
    if (typeof value === "number") picked[name] = value;
    if (typeof value === "string") picked[name] = scrubText(value);
  }
  return picked;
}

function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}
