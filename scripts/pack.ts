// Builds the npm packages of the gateway and of the REST proxy: `node scripts/pack.ts [gateway] [rest-proxy]`. Each becomes a folder in dist/, from
// which the images are made, and a tarball beside it. Nothing is published.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isolatedDeclarationSync } from "rolldown/experimental";
import { CommandError, runCommand } from "./command-line.ts";
import { bundle } from "./pack/bundle.ts";
import { type PackageDescription, packages } from "./pack/packages.ts";
import { copyThirdPartyFiles } from "./pack/third-party.ts";

interface PackResult {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const root = fileURLToPath(new URL("..", import.meta.url));
const output = join(root, "dist");
const packedFile = /^(?:dist|public|third-party)\/|^(?:package\.json|README\.md|gateway\.schema\.json)$/;
const unpackedFile = /\.test\.|(?<!\.d)\.ts$/;

await runCommand(async () => {
  const names = process.argv.slice(2);
  const chosen = packages.filter(({ folder }) => names.length === 0 || names.includes(folder));
  if (chosen.length < names.length)
    throw new CommandError("Usage: npm run pack -- [gateway] [rest-proxy]", { exitCode: 2 });
  for (const description of chosen) await pack(description);
});

async function pack(description: PackageDescription): Promise<void> {
  const folder = join(output, description.folder);
  rmSync(folder, { recursive: true, force: true });
  const packageFolders = await bundle(root, description, join(folder, "dist"));
  const unlicensed = copyThirdPartyFiles(packageFolders, join(folder, "third-party"));
  for (const [target, source] of Object.entries(description.files)) copy(source, join(folder, target));
  unlink(join(folder, "README.md"));
  const declarations = description.embedded === undefined ? undefined : writeDeclarations(description, folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(toManifest(description, declarations), null, 2));
  const { filename, size, unpackedSize, files } = createTarball(folder);
  const foreign = files.filter(({ path }) => !packedFile.test(path) || unpackedFile.test(path));
  if (foreign.length > 0)
    throw new CommandError(
      `${filename} has files that do not belong there: ${foreign.map(({ path }) => path).join(", ")}`,
    );
  console.log(
    `dist/${filename}: ${toMegabytes(size)}, ${toMegabytes(unpackedSize)} unpacked, ${files.length} files, ${packageFolders.size} packages bundled`,
  );
  if (unlicensed.length > 0) console.log(`  without a licence file: ${unlicensed.join(", ")}`);
}

function copy(source: string, target: string): void {
  const path = join(root, source);
  if (!existsSync(path)) throw new CommandError(`${source} is missing. npm run bundle:graphiql builds GraphiQL.`);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(path, target, { recursive: true, filter: (file) => !file.endsWith("tsconfig.json") });
}

/** Links that lead out of the package become their text: the repository has no public address to which they could lead. */
function unlink(file: string): void {
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, "$1"));
}

/** @returns the path in the package. @throws CommandError for a source whose exported types are not all declared in it. */
function writeDeclarations({ entries, embedded = "" }: PackageDescription, folder: string): string {
  const source = entries[embedded] ?? "";
  const { code, errors } = isolatedDeclarationSync(source, readFileSync(join(root, source), "utf8"));
  const foreign = [...code.matchAll(/from "(?!node:)([^"]+)"/g)].map(([, specifier]) => specifier);
  if (errors.length > 0 || foreign.length > 0)
    throw new CommandError(
      `${source} has no declarations of its own: ${[...errors.map(({ message }) => message), ...foreign].join(", ")}`,
    );
  const path = `dist/${embedded}.d.ts`;
  writeFileSync(join(folder, path), code);
  return `./${path}`;
}

function toManifest({ folder, description, bin, embedded }: PackageDescription, types: string | undefined): object {
  const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  return {
    name,
    version,
    description,
    // npm refuses to publish it.
    private: true,
    // The owner has chosen none: docs/licences.md. third-party/ has those of the bundled packages.
    license: "UNLICENSED",
    type: "module",
    engines: { node: ">=24" },
    bin: { [bin.command]: `dist/${bin.module}.js` },
    exports: embedded === undefined ? {} : { ".": { types, default: `./dist/${embedded}.js` } },
  };
}

function createTarball(folder: string): PackResult {
  const args = ["pack", folder, "--pack-destination", output, "--json", "--ignore-scripts"];
  const results = JSON.parse(execFileSync("npm", args, { cwd: folder, encoding: "utf8" })) as readonly PackResult[];
  const [result] = results;
  if (result === undefined) throw new Error("npm pack has created no tarball");
  return result;
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
