// What clients of the last release notice of the next one: changes.json, which the REST proxy shows at /docs/changes. `npm run release` replaces the
// copies of the published files in supergraph/released, with which it compares.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "@tributary/kit/json/json";
import type { GeneratedFile } from "../composition/generated-files.ts";
import type { Subgraph } from "../subgraphs.ts";
import type { Change } from "./changes.ts";
import { findDocumentChanges } from "./openapi-changes.ts";
import { type PlatformState, readBaseState } from "./platform-state.ts";
import { findRouteChanges } from "./route-changes.ts";
import { compareSchemas } from "./schema-changes.ts";

/** Breaking first, additions last. */
const levels = ["breaking", "dangerous", "safe"] as const;

interface ReleaseChange {
  readonly level: (typeof levels)[number];
  /** For clients, in Markdown. */
  readonly message: string;
}

/** A description is no part of the contract. graphql-inspector gives the arguments and locations of a directive its path. */
const ignoredType = /_DESCRIPTION_|^DIRECTIVE_(?:ARGUMENT|LOCATION)_ADDED$/;

/** The path is that of the new element. Of `UNION_MEMBER_ADDED`, `TYPE_DESCRIPTION_ADDED` and others it is that of an element that existed. */
const newElementType = /^(?:TYPE|FIELD|FIELD_ARGUMENT|INPUT_FIELD|ENUM_VALUE|DIRECTIVE)_ADDED$/;
/** Not an apostrophe in a quoted text, which graphql-inspector escapes. */
const quotedName = /(?<![\w\\])'([\w.@!:[\] ]+)'(?!\w)/g;

/** None if supergraph/released does not exist. @param files the generated ones. */
export async function generateReleaseChanges(
  root: string,
  subgraphs: readonly Subgraph[],
  files: readonly GeneratedFile[],
): Promise<readonly GeneratedFile[]> {
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const released = readBaseState({ name: "supergraph/released", read: readReleased }, subgraphs);
  const now = readBaseState({ name: "this commit", read: (path) => contents.get(path) }, subgraphs);
  if (!released || !now) return [];
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  const changes = {
    since: version,
    graphql: sort(await listGraphqlChanges(released, now)),
    rest: sort(listRestChanges(released, now)),
  };
  return [{ path: "supergraph/openapi/changes.json", content: `${JSON.stringify(changes, undefined, 2)}\n` }];

  function readReleased(path: string): string | undefined {
    const file = join(root, path.replace(/^supergraph\//, "supergraph/released/"));
    return path.startsWith("supergraph/") && existsSync(file) ? readFileSync(file, "utf8") : undefined;
  }
}

async function listGraphqlChanges(released: PlatformState, now: PlatformState): Promise<readonly ReleaseChange[]> {
  const differences = await compareSchemas(released.graph.apiSdl, now.graph.apiSdl);
  const added = differences.filter(({ difference: { type } }) => newElementType.test(String(type)));
  const addedPaths = new Set(added.map(({ difference: { path } }) => path));
  return differences
    .filter(({ difference: { type, path } }) => !ignoredType.test(String(type)) && !isPartOf(addedPaths, path))
    .map(({ level, difference: { message } }) => ({ level, message: `${toMarkdown(message)}.` }));
}

function toMarkdown(message: string): string {
  return message.replaceAll(quotedName, "`$1`").replaceAll(String.raw`\'`, "'");
}

/** A field of a new type, an argument of a new field and so on. */
function isPartOf(addedPaths: ReadonlySet<string | undefined>, path = ""): boolean {
  const names = path.split(".");
  return names.some((_, index) => index > 0 && addedPaths.has(names.slice(0, index).join(".")));
}

function listRestChanges(released: PlatformState, now: PlatformState): readonly ReleaseChange[] {
  const changes: readonly Change[] = [
    ...findRouteChanges(released.routes, now.routes, []),
    ...findDocumentChanges(released.documents, now.documents, () => []),
  ];
  return [...changes.map(({ level, message }) => ({ level, message })), ...listAdditions(released, now)];
}

/** Operations, and what was added to an operation or a schema that the last release had. */
function listAdditions(released: PlatformState, now: PlatformState): readonly ReleaseChange[] {
  return [...now.documents].flatMap(([version, document]) => {
    const before = released.documents.get(version);
    if (before === undefined) return [{ level: "safe", message: `Version ${version} was added.` }];
    const earlier = listParts(before);
    return [...listParts(document)].flatMap(([whole, parts]) => {
      const earlierParts = earlier.get(whole);
      const name = `\`${whole}\` in version ${version}`;
      if (earlierParts === undefined) return [{ level: "safe", message: `${name} was added.` }];
      const added = parts.filter((part) => !earlierParts.includes(part));
      return added.map((part) => ({ level: "safe" as const, message: `${name} has the new ${part}.` }));
    });
  });
}

interface Parameter {
  readonly in?: string;
  readonly name?: string;
}

interface ComparedDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, ComparedOperation>>>>;
  readonly components?: {
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly schemas?: Readonly<Record<string, { readonly properties?: object }>>;
  };
}

interface ComparedOperation {
  readonly parameters?: readonly (Parameter & { readonly $ref?: string })[];
  readonly responses?: object;
}

/** By operation, such as `GET /orders`, and by schema. */
function listParts(document: Json): ReadonlyMap<string, readonly string[]> {
  const { paths = {}, components } = document as ComparedDocument;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], responses = {} }]) => {
      const names = parameters.map(({ $ref, ...inline }) => {
        const { in: where, name } = components?.parameters?.[$ref?.split("/").at(-1) ?? ""] ?? inline;
        return `${where} parameter \`${name}\``;
      });
      const statuses = Object.keys(responses).map((status) => `status ${status}`);
      return [`${method.toUpperCase()} ${path}`, [...names, ...statuses]] as const;
    }),
  );
  const schemas = Object.entries(components?.schemas ?? {}).map(([name, { properties = {} }]) => {
    return [name, Object.keys(properties).map((property) => `member \`${property}\``)] as const;
  });
  return new Map([...operations, ...schemas]);
}

function sort(changes: readonly ReleaseChange[]): readonly ReleaseChange[] {
  return changes.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
}
