import { InputError } from "../errors/input-error.ts";
import { findMisspeltVariables, type MisspeltVariable } from "./misspelt-variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** For the tables in the READMEs. */
export interface VariableDescription {
  readonly name: string;
  readonly kind: "integer" | "number" | "string" | "url" | "choice" | "list" | "flag";
  readonly required: boolean;
  readonly secret: boolean;
  readonly fallback: string | undefined;
  readonly range: string | undefined;
  readonly why: string;
}

interface VariableOptions {
  readonly why: string;
  readonly secret?: boolean;
}

/** `development` has defaults for what `production` requires. */
export type Profile = "development" | "production";

/** Without `fallback`, a variable is required, except by the `optional…` methods. Problems are collected, not thrown. */
export interface EnvironmentReader {
  /** The unit is the end of the variable's name. */
  integer(name: string, o: VariableOptions & { fallback?: number; min: number; max: number }): number;
  optionalInteger(name: string, o: VariableOptions & { min: number; max: number }): number | undefined;
  number(name: string, o: VariableOptions & { fallback: number; min: number; max: number }): number;
  string(name: string, o: VariableOptions & { fallback?: string }): string;
  optional(name: string, o: VariableOptions): string | undefined;
  url(name: string, o: VariableOptions & { fallback?: string }): string;
  optionalUrl(name: string, o: VariableOptions): string | undefined;
  choice<const C extends string>(name: string, o: VariableOptions & { fallback?: C; of: readonly C[] }): C;
  /** Separated by commas. Only separators are a problem: a list is empty only by its fallback. */
  list(name: string, o: VariableOptions & { fallback?: readonly string[] }): readonly string[];
  flag(name: string, o: VariableOptions & { fallback: boolean }): boolean;
  /** Of the variables that are set, by their whole name. */
  withPrefix(prefix: string): Readonly<Record<string, string>>;
  /** Variables that are set and resemble one that is read. `readEnvironment` fills this list after `read` has returned. */
  readonly misspeltVariables: readonly MisspeltVariable[];
  /** Of several variables, such as two that exclude each other. */
  problem(text: string): void;
}

export class ConfigError extends InputError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], headline = "The configuration is invalid:") {
    super(`${headline}\n${problems.map((problem) => `  - ${problem}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

type Recorder = (description: VariableDescription) => void;
/** Only `describeEnvironment` adds one. */
const recorders = new WeakMap<Environment, Recorder>();

const urlRange = "an http(s) or postgres URL";
const urlProtocols = new Set(["http:", "https:", "postgres:", "postgresql:"]);
const integerText = /^-?\d{1,15}$/;
const decimalText = /^\d{1,9}(\.\d{1,9})?$/;

/** A variable with a problem reads as a placeholder, an empty value as not set. @throws ConfigError with every problem at once. */
export function readEnvironment<T>(environment: Environment, read: (env: EnvironmentReader) => T): T {
  const problems: string[] = [];
  const known = { names: new Set<string>(), prefixes: new Set<string>() };
  const misspeltVariables: MisspeltVariable[] = [];
  const record: Recorder = (description) => {
    known.names.add(description.name);
    recorders.get(environment)?.(description);
  };
  const reader = createReader(environment, problems, record);
  const config = read({
    ...reader,
    withPrefix(prefix) {
      known.prefixes.add(prefix);
      return pickWithPrefix(environment, prefix);
    },
    misspeltVariables,
  });
  misspeltVariables.push(...findMisspeltVariables(environment, known));
  if (problems.length === 0) return config;
  const hints = misspeltVariables.map(({ name, nearest }) => `${name} is unknown: did you mean ${nearest}?`);
  throw new ConfigError([...problems, ...hints]);
}

/** In the order in which they are read. Tests compare the READMEs' tables with it. */
export function describeEnvironment(readConfig: (environment: Environment) => unknown): readonly VariableDescription[] {
  const descriptions: VariableDescription[] = [];
  const emptyEnvironment: Environment = {};
  recorders.set(emptyEnvironment, (description) => descriptions.push(description));
  try {
    readConfig(emptyEnvironment);
  } catch (error) {
    // Required variables are missing, which is reported after all variables are read.
    if (!(error instanceof ConfigError)) throw error;
  }
  return descriptions;
}

type VariableReader = Omit<EnvironmentReader, "withPrefix" | "misspeltVariables">;

interface ReadOptions<T> extends VariableOptions {
  readonly fallback?: T;
  readonly range?: string;
  readonly placeholder: T;
  readonly required?: boolean;
}

function createReader(environment: Environment, problems: string[], record: Recorder): VariableReader {
  function read<T>(
    name: string,
    kind: VariableDescription["kind"],
    o: ReadOptions<T>,
    parse: (text: string) => T | undefined,
  ): T {
    const required = o.required ?? o.fallback === undefined;
    const fallback = o.fallback === undefined ? undefined : String(o.fallback);
    record({ name, kind, required, secret: o.secret ?? false, fallback, range: o.range, why: o.why });
    const text = environment[name];
    if (text === undefined || text === "") {
      if (required) problems.push(`${name} is required: ${o.why}`);
      return o.fallback ?? o.placeholder;
    }
    const value = parse(text);
    if (value !== undefined) return value;
    const shownValue = o.secret ? "…" : JSON.stringify(text);
    problems.push(`${name}=${shownValue} is not ${o.range ?? `a ${kind}`}: ${o.why}`);
    return o.placeholder;
  }

  function readOptional<T>(
    name: string,
    kind: VariableDescription["kind"],
    o: VariableOptions & { range?: string },
    parse: (text: string) => T | undefined,
  ): T | undefined {
    return read<T | undefined>(name, kind, { ...o, placeholder: undefined, required: false }, parse);
  }

  return {
    integer: (name, o) =>
      read(name, "integer", { ...o, range: integerRange(o), placeholder: o.min }, (text) => readInteger(text, o)),
    optionalInteger: (name, o) =>
      readOptional(name, "integer", { ...o, range: integerRange(o) }, (text) => readInteger(text, o)),
    number: (name, o) =>
      read(name, "number", { ...o, range: numberRange(o), placeholder: o.min }, (text) => readDecimal(text, o)),
    string: (name, o) => read(name, "string", { ...o, placeholder: "" }, (text) => text),
    optional: (name, o) => readOptional(name, "string", o, (text) => text),
    url: (name, o) => read(name, "url", { ...o, range: urlRange, placeholder: "http://unset.invalid" }, readUrl),
    optionalUrl: (name, o) => readOptional(name, "url", { ...o, range: urlRange }, readUrl),
    choice: (name, o) =>
      read<(typeof o.of)[number]>(
        name,
        "choice",
        { ...o, range: `one of ${o.of.join(", ")}`, placeholder: o.of[0] as (typeof o.of)[number] },
        (text) => o.of.find((choice) => choice === text),
      ),
    list: (name, o) => read<readonly string[]>(name, "list", { ...o, placeholder: [] }, readList),
    flag: (name, o) => read(name, "flag", { ...o, range: "true or false", placeholder: false }, readFlag),
    problem(text) {
      problems.push(text);
    },
  };
}

function pickWithPrefix(environment: Environment, prefix: string): Readonly<Record<string, string>> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value === "") continue;
    if (name.startsWith(prefix) && name !== prefix) picked[name] = value;
  }
  return picked;
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
}

function integerRange({ min, max }: NumberRange): string {
  return `an integer from ${min} to ${max}`;
}

function numberRange({ min, max }: NumberRange): string {
  return `a number from ${min} to ${max}`;
}

function readInteger(text: string, range: NumberRange): number | undefined {
  return integerText.test(text) ? valueWithin(Number(text), range) : undefined;
}

function readDecimal(text: string, range: NumberRange): number | undefined {
  return decimalText.test(text) ? valueWithin(Number(text), range) : undefined;
}

function valueWithin(value: number, { min, max }: NumberRange): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

function readFlag(text: string): boolean | undefined {
  if (text === "true") return true;
  return text === "false" ? false : undefined;
}

function readUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  return urlProtocols.has(new URL(text).protocol) ? text : undefined;
}

/** Undefined for separators only: a list that has to have an element, such as of keys, would be empty. */
function readList(text: string): readonly string[] | undefined {
  const elements = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return elements.length > 0 ? elements : undefined;
}
