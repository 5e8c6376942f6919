// Run while an image is built: copies, of all that `npm ci` installed, the packages that one process loads, to ./node_modules.
//
//   node infra/images/collect.ts gateway/src/main.ts /installed
//
// The kit is one package for everybody, and a door needs neither its way to PostgreSQL nor its GraphQL server: what is taken follows from the
// imports, and from what those packages say that they depend on. The lock file has decided the versions.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { findImports } from "./imports.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Declarations, sources, maps and prose are a third of what npm installs, and no process opens one. Licences stay. OpenTelemetry's packages
 * come with two builds more, for bundlers.
 */
const neverOpened = /\.(?:map|md|markdown|flow|ts|mts|cts)$|\/@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/;

const [main = "", installed = ""] = process.argv.slice(2);
const imported = findImports(process.cwd(), main);
const collected = new Set<string>();
for (const [name, importers] of imported) {
  for (const importer of importers) {
    const folder = find(name, join(installed, importer));
    if (folder === undefined) throw new Error(`${importer} imports ${name}, and nobody installs it.`);
    collect(folder);
  }
}
for (const folder of collected) copy(folder);
process.stdout.write(
  `${main} loads ${[...imported.keys()].sort().join(", ")}: ${collected.size} packages with theirs\n`,
);

/** Where Node finds a package: in the nearest node_modules on the way up. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(installed); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/** A peer that nobody installed is one that its package can do without. */
function collect(folder: string): void {
  if (collected.has(folder)) return;
  collected.add(folder);
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const found = find(name, folder);
    if (found !== undefined) collect(found);
    else if (dependencies?.[name] && !optionalDependencies?.[name]) throw new Error(`${folder} misses its ${name}.`);
  }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** What lies in its own node_modules is copied where somebody needs it. */
function copy(folder: string): void {
  const nested = join(folder, "node_modules");
  const filter = (path: string) => path !== nested && !neverOpened.test(path);
  cpSync(folder, relative(installed, folder), { recursive: true, filter });
}
