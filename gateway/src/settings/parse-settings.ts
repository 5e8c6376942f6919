// Reads the text of gateway.yaml. Every problem is reported at once, with its line.
import { isNode, isPair, isScalar, LineCounter, parseDocument, visit } from "yaml";
import type { Document, Node } from "yaml";
import type { z } from "zod";
import type { Environment } from "@tributary/kit/process/env";
import { insertVariables } from "@tributary/kit/process/env-references";
import { nearestOf } from "@tributary/kit/process/misspelt-variables";
import { type SettingsFile, settingsSchema, toJsonSchema } from "./settings-schema.ts";

export interface ParsedSettings {
  /** The file's path; empty without a file. */
  readonly name: string;
  readonly settings: SettingsFile;
  /** As the file has them: with `${env.NAME}`, so without secrets. */
  readonly source: SettingsFile;
  /** Of a key, or of the nearest key above it. */
  lineOf(path: readonly PropertyKey[]): number;
}

export const noSettings: ParsedSettings = { name: "", settings: {}, source: {}, lineOf: () => 1 };

/** `message` has every problem, one a line. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const charactersMax = 1_000_000;
const problemsMax = 50;

/** A file that is YAML, whatever it has. */
export interface ParsedSource extends Omit<ParsedSettings, "settings"> {
  readonly document: Document;
  readonly lines: LineCounter;
}

/**
 * @param name of the file, for problems.
 * @param environment for `${env.NAME}` in texts.
 * @throws SettingsError
 */
export function parseSettings(text: string, name: string, environment: Environment): ParsedSettings {
  return checkSource(parseSource(text, name), environment);
}

/** @throws SettingsError if the text is empty or no YAML. */
export function parseSource(text: string, name: string): ParsedSource {
  if (text.length > charactersMax) throw new SettingsError([`${name} has more than ${charactersMax} characters`]);
  // A writer may have cleared the file and not written it yet.
  if (text.trim() === "") throw new SettingsError([`${name} is empty; a file without settings is {}`]);
  const lines = new LineCounter();
  // The library's own search for repeated keys takes quadratic time.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const lineOf = (path: readonly PropertyKey[]) => lineAt(document, path, lines) ?? 1;
  // A warning is a tag of another program, such as !env: its meaning would be lost.
  const problems: Problem[] = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    line: lines.linePos(pos[0]).line,
    message: message.replaceAll("\n", " "),
  }));
  reportRepeatedKeys(document, (node, message) => problems.push({ line: lineOfNode(node, lines), message }));
  rejectProblems(problems, name);
  return { name, source: toPlain(document, name) as SettingsFile, lineOf, document, lines };
}

/** Inserts the variables into the document of the source. @throws SettingsError */
export function checkSource(
  { name, source, lineOf, document, lines }: ParsedSource,
  environment: Environment,
): ParsedSettings {
  const problems: Problem[] = [];
  insertAllVariables(document, environment, (node, message) =>
    problems.push({ line: lineOfNode(node, lines), message }),
  );
  const result = settingsSchema.safeParse(toPlain(document, name), { error: describeMissingKey });
  // Lazily: to find a line and a similar name takes time for each problem.
  problems.push(...describeIssues(result.error?.issues ?? [], lineOf).take(problemsMax));
  rejectProblems(problems, name);
  return { name, settings: result.data ?? {}, source, lineOf };
}

function rejectProblems(problems: readonly Problem[], name: string): void {
  if (problems.length === 0) return;
  const listed = problems.toSorted((a, b) => a.line - b.line).slice(0, problemsMax);
  throw new SettingsError(listed.map(({ line, message }) => `${name}:${line}: ${message}`));
}

interface Problem {
  readonly line: number;
  readonly message: string;
}

/** An alias could expand to any size. */
function toPlain(document: Document, name: string): unknown {
  try {
    return (document.toJS({ maxAliasCount: 0 }) ?? {}) as unknown;
  } catch {
    throw new SettingsError([`${name}: aliases (*name) are not supported`]);
  }
}

type Report = (node: Node, message: string) => void;

function reportRepeatedKeys(document: Document, report: Report): void {
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (names.has(String(key.value))) report(key, `the key ${String(key.value)} is repeated`);
        names.add(String(key.value));
      }
    },
  });
}

function insertAllVariables(document: Document, environment: Environment, report: Report): void {
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string") return;
      node.value = insertVariables(node.value, environment, (variable) =>
        report(node, `the variable ${variable} is not set`),
      );
    },
  });
}

/** Zod's own message is about `undefined`, which YAML does not have. */
function describeMissingKey({ code, input }: z.core.$ZodRawIssue): string | undefined {
  return code === "invalid_type" && input === undefined ? "is required" : undefined;
}

type Issue = z.core.$ZodIssue;
type LineOf = (path: readonly PropertyKey[]) => number;

function* describeIssues(issues: readonly Issue[], lineOf: LineOf): Generator<Problem> {
  for (const issue of issues) yield* describeIssue(issue, lineOf);
}

function* describeIssue(issue: Issue, lineOf: LineOf): Generator<Problem> {
  const { path } = issue;
  const at = (message: string) => ({
    line: lineOf(path),
    message: path.length > 0 ? `${pathToText(path)}: ${message}` : message,
  });
  if (issue.code === "unrecognized_keys") {
    const known = listKeys(path);
    for (const key of issue.keys) {
      const nearest = nearestOf(key, known);
      const hint = nearest === undefined ? `known: ${known.join(", ")}` : `did you mean ${nearest}?`;
      yield { line: lineOf([...path, key]), message: `${pathToText([...path, key])} is unknown; ${hint}` };
    }
    return;
  }
  if (issue.code !== "invalid_union") return yield at(issue.message);
  // Problems below the value say more than that it fits no alternative.
  const nested = issue.errors.flat().filter((inner) => inner.path.length > 0);
  if (nested.length > 0) {
    const below = nested.map((inner) => ({ ...inner, path: [...path, ...inner.path] }));
    return yield* describeIssues(below, lineOf);
  }
  yield at([...new Set(issue.errors.flat().map(({ message }) => message))].join(", or "));
}

/** `headers.all.request[0].propagate` */
export function pathToText(path: readonly PropertyKey[]): string {
  return path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i > 0 ? "." : ""}${String(step)}`))
    .join("");
}

function lineAt(document: Document, path: readonly PropertyKey[], lines: LineCounter): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = findNode(document, path.slice(0, length));
    if (node) return lineOfNode(node, lines);
  }
  return undefined;
}

/** The key of a member, or else the node itself. */
function findNode(document: Document, path: readonly PropertyKey[]): Node | undefined {
  const parent = path.length > 0 ? document.getIn(path.slice(0, -1), true) : undefined;
  const last = path.at(-1);
  if (typeof last === "string" && isNode(parent) && "items" in parent) {
    const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === last);
    if (isPair(pair) && isNode(pair.key)) return pair.key;
  }
  const node = path.length > 0 ? document.getIn(path, true) : document.contents;
  return isNode(node) ? node : undefined;
}

function lineOfNode({ range }: Node, lines: LineCounter): number {
  return lines.linePos(range?.[0] ?? 0).line;
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

function listKeys(path: readonly PropertyKey[]): readonly string[] {
  let schemas: readonly JsonSchema[] = [toJsonSchema()];
  for (const step of path) schemas = schemas.flatMap((schema) => childrenOf(schema, step));
  return schemas.flatMap((schema) => Object.keys(expand(schema).flatMap((part) => part.properties ?? {})[0] ?? {}));
}

function expand(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf ? schema.anyOf.flatMap(expand) : [schema];
}

function childrenOf(schema: JsonSchema, step: PropertyKey): readonly JsonSchema[] {
  return expand(schema).flatMap(({ properties, additionalProperties, items }) => {
    if (typeof step === "number") return items ? [items] : [];
    const property = properties?.[String(step)];
    if (property) return [property];
    return typeof additionalProperties === "object" ? [additionalProperties] : [];
  });
}
