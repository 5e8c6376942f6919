// Bundles GraphiQL into gateway/public/graphiql. `npm install` runs it as `prepare`; `npm run bundle:graphiql` by hand.
// Plain JavaScript for Node 20 and newer, because it may run under the machine's Node instead of the project's.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "gateway/graphiql");
const publicFolder = join(root, "gateway/public");
const bundle = join(publicFolder, "graphiql");
/** Contains the hash of the sources from which the present bundle was built. */
const hashFile = join(publicFolder, "graphiql.stamp");
const isPrepare = process.env.npm_lifecycle_event === "prepare";

try {
  await main();
} catch (error) {
  // A failure must not fail `npm install`: the rest of the platform works without GraphiQL.
  console.error(`GraphiQL is not bundled: ${error instanceof Error ? error.message : String(error)}`);
  if (isPrepare) console.error("The gateway works without it. Try again with: npm run bundle:graphiql");
  else process.exitCode = 1;
}

async function main() {
  const hash = hashSources();
  const hasBundle = existsSync(join(bundle, "index.html")) && existsSync(hashFile);
  if (hasBundle && readFileSync(hashFile, "utf8") === hash) return;
  const vite = await findVite();
  if (!vite) {
    console.log("GraphiQL is not bundled: vite is a development dependency, and is not installed.");
    return;
  }
  await replaceBundle(vite);
  writeFileSync(hashFile, hash);
}

/** Hashes the contents of everything that determines the bundle. Modification times would not do: a checkout changes them. */
function hashSources() {
  const sourceFiles = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    // The first versions of Node 20 have only `path`.
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  const thisFile = fileURLToPath(import.meta.url);
  const files = [...sourceFiles.sort(), thisFile, join(root, "package-lock.json")];
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(`${relative(root, file)}\0`);
    hash.update(readFileSync(file));
    hash.update("\0");
  }
  return hash.digest("hex");
}

/** Undefined if vite is not installed. */
async function findVite() {
  try {
    return await import("vite");
  } catch (error) {
    if (error.code === "ERR_MODULE_NOT_FOUND" && !existsSync(join(root, "node_modules/vite"))) return undefined;
    throw error;
  }
}

/** Builds in a temporary folder and renames it, so that requests during the build, and a failed build, use the old bundle. */
async function replaceBundle(vite) {
  mkdirSync(publicFolder, { recursive: true });
  const temporaryFolder = `${bundle}.${process.pid}`;
  try {
    await vite.build(describeBuild(temporaryFolder));
    rmSync(bundle, { recursive: true, force: true });
    renameSync(temporaryFolder, bundle);
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

/** No source maps, inline assets or external links: the page works under `default-src 'self'`. */
function describeBuild(outDir) {
  return {
    configFile: false,
    root: sources,
    base: "/graphiql/",
    publicDir: false,
    logLevel: "error",
    clearScreen: false,
    resolve: { dedupe: ["graphql", "react", "react-dom"] },
    worker: { format: "es" },
    build: {
      outDir,
      emptyOutDir: true,
      sourcemap: false,
      license: { fileName: "licenses.md" },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 10_000,
    },
  };
}
