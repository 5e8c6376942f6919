// Copies the installed packages that a process loads: `node infra/images/collect.ts gateway/src/main.ts /installed`. The kit's manifest cannot say
// which ones: the gateway loads neither the PostgreSQL client nor the GraphQL server in it. So the imports decide, then the packages' manifests.
import { cpSync, existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { findPackageImports } from "./imports.ts";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Files that no process opens, a third of the installed bytes. */
const unusedPath = /\.(?:map|flow|ts|mts|cts)$|\/@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/;
const markdownFile = /\.(?:md|markdown)$/;
/** Licences require that their text is distributed with the package; some packages have it only as LICENSE.md. */
const licenceFile = /licen[cs]e|notice|copying/i;

const [mainFile = "", installedFolder = ""] = process.argv.slice(2);
const imports = findPackageImports(process.cwd(), mainFile);
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

/** As Node resolves: in the nearest node_modules, from the folder `from` upwards. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(installedFolder); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}

/** Optional dependencies may be missing, since npm skips those of other platforms, and so may peers: `npm ci` installs the required ones. */
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

/** Nested packages are copied separately, if used. */
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
