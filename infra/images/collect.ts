// Runs during an image build, once per process: copies the installed packages that the process loads to ./node_modules.
//
//   node infra/images/collect.ts gateway/src/main.ts /installed
//
// The first argument is the process's main file, relative to the current folder. The second is the folder in which `npm ci` has installed the
// packages of all processes; the lock file has decided their versions. The kit's manifest cannot say which packages a process loads: the gateway and
// the REST proxy load neither the PostgreSQL client nor the GraphQL server in it. So the packages are found in two steps: those that the repository's
// files import, from the main file on, then the dependencies of these packages, by their manifests.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { findPackageImports } from "./imports.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Files that no process opens, a third of the installed bytes: type declarations, TypeScript sources and source maps, and the additional builds
 * for bundlers in OpenTelemetry's packages.
 */
const unusedPath = /\.(?:map|flow|ts|mts|cts)$|\/@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/;
const markdownFile = /\.(?:md|markdown)$/;
/** Licences require that their text is distributed with the package; some packages have it only as LICENSE.md. */
const licenceFile = /licen[cs]e|notice|copying/i;

const [mainFile = "", installedFolder = ""] = process.argv.slice(2);
const imports = findPackageImports(process.cwd(), mainFile);
/** The folders of the packages to copy. */
const packageFolders = new Set<string>();
for (const [name, importingFolders] of imports) {
  for (const importingFolder of importingFolders) {
    const folder = findPackage(name, join(installedFolder, importingFolder));
    if (folder === undefined) throw new Error(`${importingFolder} imports ${name}, which is not installed.`);
    addWithDependencies(folder);
  }
}
for (const folder of packageFolders) copyPackage(folder);
const importedNames = [...imports.keys()].sort().join(", ");
process.stdout.write(`${mainFile} loads ${importedNames}: ${packageFolders.size} packages with their dependencies\n`);

/** Finds a package's folder as Node does: in the nearest node_modules, from the folder `from` upwards. Undefined if it is not installed. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(installedFolder); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/**
 * Adds a package and all that it depends on to `packageFolders`. Optional dependencies may be missing, since npm skips those of other platforms.
 * Peer dependencies may be missing too: `npm ci` installs the required ones.
 */
function addWithDependencies(folder: string): void {
  if (packageFolders.has(folder)) return;
  packageFolders.add(folder);
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(folder);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
    const dependencyFolder = findPackage(name, folder);
    // A name may be in both lists: then the dependency is optional.
    const isRequired = Boolean(dependencies?.[name]) && !optionalDependencies?.[name];
    if (dependencyFolder !== undefined) addWithDependencies(dependencyFolder);
    else if (isRequired) throw new Error(`${folder} depends on ${name}, which is not installed.`);
  }
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Copies a package to the same place below the current folder, without its nested node_modules: their packages are copied separately, if used. */
function copyPackage(folder: string): void {
  const nestedPackages = join(folder, "node_modules");
  cpSync(folder, relative(installedFolder, folder), {
    recursive: true,
    filter: (path) => path !== nestedPackages && !isUnused(path),
  });
}

function isUnused(path: string): boolean {
  const isLicence = licenceFile.test(basename(path));
  return unusedPath.test(path) || (markdownFile.test(path) && !isLicence);
}
