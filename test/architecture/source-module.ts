import { posix } from "node:path";
import { parseSync, visitorKeys } from "oxc-parser";

/** A text of a source file with its line, counted from 1. */
interface Fact {
  readonly text: string;
  readonly line: number;
}

/** An import, a re-export (`export … from`), a dynamic import or an import type. */
export interface ImportFact {
  readonly specifier: string;
  readonly line: number;
  /** Path from the root for a relative specifier; undefined for a package. */
  readonly target: string | undefined;
  /** An import of types, which is erased at run time. */
  readonly typeOnly: boolean;
  /** `export * from`. */
  readonly star: boolean;
}

/** What the rules read from one file, without its comments. */
export interface SourceModule {
  readonly path: string;
  readonly imports: readonly ImportFact[];
  /** Every identifier, property and type name. */
  readonly names: readonly Fact[];
  /** Every string and template. An interpolation becomes " ? ". */
  readonly texts: readonly Fact[];
  /** Dotted uses: "process.env", "console.log", "deps.log.warn". */
  readonly uses: readonly Fact[];
  /** All statements of the file re-export from other files. */
  readonly isBarrel: boolean;
  /** Interfaces, type aliases, classes and enums that the file exports. */
  readonly exportedTypes: readonly Fact[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** Parses one file. @throws Error that names the file if it is not TypeScript. */
export function readSourceModule(path: string, text: string): SourceModule {
  const { program, errors } = parseSync(path, text, {
    lang: path.endsWith(".mjs") ? "js" : "ts",
    sourceType: "module",
  });
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const nodes = [...walk(program as unknown as Node)];
  const lineOf = createLineFinder(text);
  const facts = (read: (node: Node) => readonly (string | undefined)[]): Fact[] =>
    nodes.flatMap((node) => {
      const found = read(node).filter((one) => one !== undefined);
      return found.map((one) => ({ text: one, line: lineOf(node.start) }));
    });
  const sources = new Set(nodes.map(sourceOf));
  const statements = program.body as unknown as readonly Node[];
  return {
    path,
    imports: nodes.flatMap((node) => readImport(node, path, lineOf) ?? []),
    names: facts((node) => (node.type.endsWith("Identifier") ? [String(node["name"])] : [])),
    texts: facts((node) => (sources.has(node) ? [] : [textOf(node)])),
    uses: facts((node) => [dottedOf(node), ...destructuredOf(node)]),
    exportedTypes: facts((node) => [exportedTypeOf(node)]),
    isBarrel: statements.length > 0 && statements.every(isReExport),
  };
}

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const key of visitorKeys[node.type] ?? []) {
    const children = node[key];
    for (const child of Array.isArray(children) ? children : [children]) {
      if (isNode(child)) yield* walk(child);
    }
  }
}

function readImport(node: Node, path: string, lineOf: (offset: number) => number): ImportFact | undefined {
  const specifier = textOf(sourceOf(node));
  if (specifier === undefined) return undefined;
  const target = specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
  const star = node.type === "ExportAllDeclaration";
  return { specifier, line: lineOf(node.start), target, typeOnly: isTypeOnly(node), star };
}

function sourceOf(node: Node): Node | undefined {
  const isImport = /^(?:Import(?:Declaration|Expression)|Export(?:All|Named)Declaration|TSImportType)$/.test(node.type);
  return isImport && isNode(node["source"]) ? node["source"] : undefined;
}

function isTypeOnly(node: Node): boolean {
  if (node.type === "TSImportType" || node["importKind"] === "type" || node["exportKind"] === "type") return true;
  const specifiers = (node["specifiers"] ?? []) as readonly Node[];
  const isType = (one: Node) => one["importKind"] === "type" || one["exportKind"] === "type";
  return specifiers.length > 0 && specifiers.every(isType);
}

function isReExport(statement: Node): boolean {
  return (
    statement.type === "ExportAllDeclaration" || (statement.type === "ExportNamedDeclaration" && !!statement["source"])
  );
}

/** The declared name of `export interface X`, `export type X`, `export class X` or `export enum X`. */
function exportedTypeOf(node: Node): string | undefined {
  const declaration = node["declaration"];
  if (node.type !== "ExportNamedDeclaration" || !isNode(declaration)) return undefined;
  const isType = /^(?:TSInterface|TSTypeAlias|Class|TSEnum)Declaration$/.test(declaration.type);
  return isType && isNode(declaration["id"]) ? String(declaration["id"]["name"]) : undefined;
}

function textOf(node: Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node?.type !== "TemplateLiteral") return undefined;
  const quasis = node["quasis"] as readonly {
    readonly value: { readonly cooked: string | null; readonly raw: string };
  }[];
  return quasis.map(({ value }) => value.cooked ?? value.raw).join(" ? ");
}

/** "a.b.c" for a member expression of names. Another leading object, such as `this`, is omitted. */
function dottedOf(node: Node): string | undefined {
  if (node.type !== "MemberExpression") return undefined;
  const property = node["property"] as Node;
  const name = node["computed"] ? textOf(property) : String(property["name"]);
  const object = node["object"] as Node;
  const front = object.type === "Identifier" ? String(object["name"]) : dottedOf(object);
  return name === undefined ? undefined : [front, name].filter(Boolean).join(".");
}

/** "process.env" and "process.argv" of `const { env, argv } = process`. */
function destructuredOf(node: Node): readonly string[] {
  const { id, init } = node as { readonly id?: unknown; readonly init?: unknown };
  if (!isNode(id) || !isNode(init) || id.type !== "ObjectPattern") return [];
  const object = init.type === "Identifier" ? String(init["name"]) : dottedOf(init);
  const keys = (id["properties"] as readonly Node[]).map((property) => property["key"]).filter(isNode);
  return keys.map((key) => `${object ?? ""}.${String(key["name"] ?? key["value"])}`);
}

function createLineFinder(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
