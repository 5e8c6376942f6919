// From main, by git, for the services that run at the remote: what an unfinished folder of another service contains does not matter.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findBase } from "../../../supergraph/changes/git-base.ts";
import { readSubgraphs, type SubgraphSource } from "../../../supergraph/subgraphs.ts";
import type { SubstituteKind } from "../options.ts";
import { type ServiceName, services } from "../parts.ts";
import { CommandError } from "../../command-line.ts";

export interface SchemaSourcesOptions {
  readonly root: string;
  readonly dataDir: string;
  readonly substitutes: ReadonlyMap<ServiceName, SubstituteKind>;
  print(name: string, line: string): void;
}

export type ReadSources = () => readonly SubgraphSource[];

export function remoteSchemaFiles(dataDir: string) {
  const folder = join(dataDir, "remote");
  return { api: join(folder, "api.graphql"), of: (name: string) => join(folder, `${name}.graphql`) };
}

/** Writes the schemas of the remote once. @returns a function that reads the others from disk. @throws CommandError if one is neither in git nor on disk. */
export function prepareSchemaSources({ root, dataDir, substitutes, print }: SchemaSourcesOptions): ReadSources {
  const remoteSources = readSubgraphs(root, services).filter(({ name }) => isRemote(substitutes, name));
  if (remoteSources.length === 0) return () => readSubgraphs(root, services);
  const base = findBase(root);
  if (!base) print("start", "no git repository: the schemas of the remote's services are those on disk");
  const read = (file: string): string => {
    const committed = base?.read(file);
    if (committed !== undefined) return committed;
    if (!existsSync(join(root, file)))
      throw new CommandError(`${file} is neither on disk nor in ${base?.name ?? "git"}.`);
    if (base) print("start", `${file} is not in ${base.name}: the file on disk is used`);
    return readFileSync(join(root, file), "utf8");
  };
  const files = remoteSchemaFiles(dataDir);
  const sdlByName = new Map(remoteSources.map(({ name, file }) => [name, read(file)] as const));
  mkdirSync(dirname(files.api), { recursive: true });
  writeFileSync(files.api, read("supergraph/api.graphql"));
  for (const [name, sdl] of sdlByName) writeFileSync(files.of(name), sdl);
  if (base) {
    const names = remoteSources.map(({ name }) => name).join(", ");
    print("start", `the schemas of ${names} are those of ${base.name} (${base.commit.slice(0, 10)})`);
  }
  return () =>
    readSubgraphs(root, services).map((source) => ({ ...source, sdl: sdlByName.get(source.name) ?? source.sdl }));
}

function isRemote(substitutes: SchemaSourcesOptions["substitutes"], name: string): boolean {
  return substitutes.get(name) === "remote";
}
