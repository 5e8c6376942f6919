// For remove-service.ts: finds what breaks without a service: other subgraphs that use its types, and files that name it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DocumentNode, Kind, parse, type TypeNode } from "graphql";
import { composeSubgraphs } from "../../supergraph/compose.ts";
import type { Service } from "../../supergraph/services.ts";
import { readSubgraphs } from "../../supergraph/subgraphs.ts";

const shownFilesMax = 20;

/**
 * Finds what breaks if a service is removed, a line each.
 * @param generated the paths of the generated files, which follow the list of services.
 */
export function findDependents(
  root: string,
  services: readonly Service[],
  name: string,
  generated: ReadonlySet<string>,
): readonly string[] {
  return [...findDependentSubgraphs(root, services, name), ...findFiles(root, name, generated)];
}

function findDependentSubgraphs(root: string, services: readonly Service[], name: string): readonly string[] {
  const others = services.filter((service) => service.name !== name);
  const owned = findOwnedEntities(readSchema(root, `services/${name}`));
  const dependents = others.flatMap(({ name: other, folder }) => {
    const used = typeNamesOf(readSchema(root, folder)).filter((type) => owned.has(type));
    return used.length === 0 ? [] : [`services/${other}/schema.graphql uses ${used.join(", ")}`];
  });
  const composition = composeSubgraphs(readSubgraphs(root, others));
  return composition.ok
    ? dependents
    : [...dependents, ...composition.errors.map(({ message }) => `composition: ${message.split("\n")[0]}`)];
}

/** The entities that a field of Query returns. A schema's other entities belong to other services. */
function findOwnedEntities({ definitions }: DocumentNode): ReadonlySet<string> {
  const objects = definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION);
  const returned = new Set(
    objects
      .filter(({ name }) => name.value === "Query")
      .flatMap(({ fields = [] }) => fields.map(({ type }) => nameOf(type))),
  );
  const isEntity = ({ directives = [] }: (typeof objects)[number]) =>
    directives.some((directive) => directive.name.value === "key");
  return new Set(
    objects
      .filter(isEntity)
      .map(({ name }) => name.value)
      .filter((name) => returned.has(name)),
  );
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

function typeNamesOf({ definitions }: DocumentNode): readonly string[] {
  return definitions.flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION ? [node.name.value] : [],
  );
}

function readSchema(root: string, folder: string): DocumentNode {
  return parse(readFileSync(join(root, folder, "schema.graphql"), "utf8"));
}

/** Files outside its folder that import from it, read it by a relative path or link to it, without generated ones. */
function findFiles(root: string, name: string, generated: ReadonlySet<string>): readonly string[] {
  const folder = `services/${name}`;
  const files = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "--", ".", `:!${folder}`, ":!package-lock.json"],
    { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  ).split("\n");
  const pattern = new RegExp(String.raw`(?:\.\./|\]\()services/${name}(?![\w-])`);
  const naming = files.filter(
    (path) => /\.(?:ts|mjs|json|ya?ml|md)$/.test(path) && !generated.has(path) && fileMatches(root, path, pattern),
  );
  const shown = naming.slice(0, shownFilesMax).map((path) => `${path} names ${folder}`);
  return naming.length > shown.length ? [...shown, `and ${naming.length - shown.length} more files`] : shown;
}

function fileMatches(root: string, path: string, pattern: RegExp): boolean {
  try {
    return pattern.test(readFileSync(join(root, path), "utf8"));
  } catch {
    return false; // The file was deleted, and git still lists it until the next commit.
  }
}
