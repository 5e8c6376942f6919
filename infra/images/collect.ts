// Runs during an image build: copies the installed packages that one process loads to ./node_modules.
//
//   node infra/images/collect.ts gateway/src/main.ts /installed
//
// All processes use the kit, but the gateway and the REST proxy need neither its PostgreSQL client nor its GraphQL server. So the packages are
// found by following the imports and the dependencies in the packages' manifests. The lock file has decided the versions.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { findImports } from "./imports.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Files that no process opens, a third of the installed bytes: type declarations, sources, source maps and documents, but not licences.
 * OpenTelemetry's packages have two more builds, for bundlers.
 */
const unusedFile = /\.(?:map|md|markdown|flow|ts|mts|cts)$|\/@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/;

const [main = "", installed = ""] = process.argv.slice(2);
const imported = findImports(process.cwd(), main);
const collected = new Set<string>();
for (const [name, importers] of imported) {
  for (const importer of importers) {
    const folder = find(name, join(installed, importer));
    if (folder === undefined) throw new Error(`${importer} imports ${name}, which is not installed.`);
    collect(folder);
  }
}
for (const folder of collected) copy(folder);
process.stdout.write(
  `${main} loads ${[...imported.keys()].sort().join(", ")}: ${collected.size} packages with their dependencies\n`,
);

/** Finds a package as Node does: in the nearest node_modules of the parent folders. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(installed); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/** A peer dependency that is not installed is optional. */
function collect(folder: string): void {
  if (collected.has(folder)) return;
  collected.add(folder);
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const dependency = find(name, folder);
    if (dependency !== undefined) collect(dependency);
    else if (dependencies?.[name] && !optionalDependencies?.[name])
      throw new Error(`${folder} depends on ${name}, which is not installed.`);
  }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Copies a package without its nested node_modules, whose packages are collected separately. */
function copy(folder: string): void {
  const nested = join(folder, "node_modules");
  const filter = (path: string) => path !== nested && !unusedFile.test(path);
  cpSync(folder, relative(installed, folder), { recursive: true, filter });
}
