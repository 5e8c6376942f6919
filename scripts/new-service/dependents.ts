import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentNode, Kind, type ObjectTypeDefinitionNode, parse, type TypeNode } from "graphql";
import { composeSubgraphs } from "../../supergraph/compose.ts";
import type { Service } from "../../supergraph/services.ts";
import { readSubgraphs } from "../../supergraph/subgraphs.ts";

const shownFilesMax = 20;
const searchedFile = /\.(?:ts|mjs|json|ya?ml|md)$/;

/** One line for each subgraph and file that breaks without the service. @param generated paths, which follow the list of services. */
export function findDependents(
  root: string,
  services: readonly Service[],
  name: string,
  generated: ReadonlySet<string>,
): readonly string[] {
  return [...findDependentSubgraphs(root, services, name), ...findReferringFiles(root, name, generated)];
}

function findDependentSubgraphs(root: string, services: readonly Service[], name: string): readonly string[] {
  const others = services.filter((service) => service.name !== name);
  const ownedEntities = findOwnedEntities(readSchema(root, `services/${name}`));
  const dependents = others.flatMap((other) => {
    const usedEntities = objectTypeNamesOf(readSchema(root, other.folder)).filter((type) => ownedEntities.has(type));
    return usedEntities.length === 0 ? [] : [`services/${other.name}/schema.graphql uses ${usedEntities.join(", ")}`];
  });
  const composition = composeSubgraphs(readSubgraphs(root, others));
  if (composition.ok) return dependents;
  const firstLines = composition.errors.map(({ message }) => message.split("\n")[0]);
  return [...dependents, ...firstLines.map((line) => `composition: ${line}`)];
}

/** Those that a field of Query returns: a schema's other entities belong to other services. */
function findOwnedEntities({ definitions }: DocumentNode): ReadonlySet<string> {
  const objectTypes = definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION);
  const rootFields = objectTypes.filter(({ name }) => name.value === "Query").flatMap(({ fields = [] }) => fields);
  const returnedTypes = new Set(rootFields.map(({ type }) => namedTypeOf(type)));
  const entities = objectTypes.filter(hasKey).map(({ name }) => name.value);
  return new Set(entities.filter((entity) => returnedTypes.has(entity)));
}

function hasKey({ directives = [] }: ObjectTypeDefinitionNode): boolean {
  return directives.some((directive) => directive.name.value === "key");
}

/** `Post` for the type `[Post!]!`. */
function namedTypeOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedTypeOf(type.type);
}

function objectTypeNamesOf({ definitions }: DocumentNode): readonly string[] {
  return definitions.flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION ? [node.name.value] : [],
  );
}

function readSchema(root: string, folder: string): DocumentNode {
  return parse(readFileSync(join(root, folder, "schema.graphql"), "utf8"));
}

/** The files that import from the service's folder, read it by a relative path or link to it. */
function findReferringFiles(root: string, name: string, generated: ReadonlySet<string>): readonly string[] {
  const folder = `services/${name}`;
  const paths = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "--", ".", `:!${folder}`, ":!package-lock.json"],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  ).split("\n");
  // `../services/NAME` of an import or a path, and `](services/NAME` of a link in Markdown.
  const reference = new RegExp(String.raw`(?:\.\./|\]\()services/${name}(?![\w-])`);
  const searchedPaths = paths.filter((path) => searchedFile.test(path) && !generated.has(path));
  const found = searchedPaths.filter((path) => fileMatches(root, path, reference));
  const lines = found.slice(0, shownFilesMax).map((path) => `${path} names ${folder}`);
  const hiddenFiles = found.length - lines.length;
  return hiddenFiles > 0 ? [...lines, `and ${hiddenFiles} more files`] : lines;
}

function fileMatches(root: string, path: string, pattern: RegExp): boolean {
  try {
    return pattern.test(readFileSync(join(root, path), "utf8"));
  } catch {
    return false; // The file was deleted, and git still lists it until the next commit.
  }
}
