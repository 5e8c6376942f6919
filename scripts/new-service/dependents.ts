import { spawnSync } from "node:child_process";
import { getNamedType, isObjectType } from "graphql";
import { composeSubgraphs } from "../../supergraph/compose.ts";
import type { Service } from "../../supergraph/services.ts";
import { readSubgraphs } from "../../supergraph/subgraphs.ts";
import { buildExecutableSchema, readEntityKeys } from "../start/substitute/subgraph-schema.ts";

const shownFilesMax = 20;
const searchedFiles = ["*.ts", "*.mjs", "*.json", "*.yaml", "*.yml", "*.md"];

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
  const sources = readSubgraphs(root, services);
  const others = sources.filter((source) => source.name !== name);
  const ownedEntities = findOwnedEntities(sources.find((source) => source.name === name)?.sdl ?? "");
  const dependents = others.flatMap(({ file, sdl = "" }) => {
    const types = buildExecutableSchema(sdl).getTypeMap();
    const usedEntities = ownedEntities.filter((type) => isObjectType(types[type]));
    return usedEntities.length === 0 ? [] : [`${file} uses ${usedEntities.join(", ")}`];
  });
  const composition = composeSubgraphs(others);
  if (composition.ok) return dependents;
  const firstLines = composition.errors.map(({ message }) => message.split("\n")[0]);
  return [...dependents, ...firstLines.map((line) => `composition: ${line}`)];
}

/** Those that a field of Query returns: a schema's other entities belong to other services. */
function findOwnedEntities(sdl: string): readonly string[] {
  const rootFields = Object.values(buildExecutableSchema(sdl).getQueryType()?.getFields() ?? {});
  const returnedTypes = new Set(rootFields.map(({ type }) => getNamedType(type).name));
  return [...readEntityKeys(sdl).keys()].filter((entity) => returnedTypes.has(entity));
}

/** The files that import from the service's folder, read it by a relative path or link to it. */
function findReferringFiles(root: string, name: string, generated: ReadonlySet<string>): readonly string[] {
  const folder = `services/${name}`;
  // `../services/NAME` of an import or a path, and `](services/NAME` of a link in Markdown.
  const reference = String.raw`(\.\./|\]\()${folder}($|[^[:alnum:]_-])`;
  const places = [...searchedFiles, `:!${folder}`, ":!package-lock.json"];
  const { status, stdout, stderr } = spawnSync("git", ["grep", "--untracked", "-lE", reference, "--", ...places], {
    cwd: root,
    encoding: "utf8",
  });
  // 1: no file matches.
  if (status !== 0 && status !== 1) throw new Error(`git grep failed: ${stderr}`);
  const found = stdout.split("\n").filter((path) => path !== "" && !generated.has(path));
  const lines = found.slice(0, shownFilesMax).map((path) => `${path} names ${folder}`);
  const hiddenFiles = found.length - lines.length;
  return hiddenFiles > 0 ? [...lines, `and ${hiddenFiles} more files`] : lines;
}
