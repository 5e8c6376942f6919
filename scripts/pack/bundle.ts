import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import type { PackageDescription } from "./packages.ts";

/** The URL of a file that the code opens, or of a thread's module. */
const fileUrlPattern = /new URL\("([^"]+)", import\.meta\.url\)/g;
const packageFolderPattern = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * Bundles the entries, with all packages that they import, into modules of one folder. Nothing is left to install: what runs is what the lock file
 * names and the tests ran.
 * @returns the folder of each installed package from which the modules contain code.
 */
export async function bundle(
  root: string,
  { entries, bin }: Pick<PackageDescription, "entries" | "bin">,
  folder: string,
): Promise<ReadonlySet<string>> {
  const bundler = await rolldown({
    cwd: root,
    input: { ...entries },
    platform: "node",
    resolve: {
      alias: {
        // node-fetch uses its class URL where Node has none, and loading it prints a warning (DEP0040) that Node leaves out for installed packages.
        "whatwg-url": "node:url",
        // Its CommonJS module, which does not load the HTTP client that is built into Node (kit/src/process/node-http.ts).
        "node-fetch": "node-fetch/lib/index.js",
      },
    },
    plugins: [emitOpenedFiles, escapeCharacters],
    // A warning is a problem of the package, such as an import that is found at run time only.
    onLog(level, { message }) {
      if (level === "warn") throw new Error(message);
    },
  });
  const { output } = await bundler.write({
    dir: folder,
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    assetFileNames: "[name][extname]",
    banner: ({ name }) => (name === bin.module ? "#!/usr/bin/env node" : ""),
    // Names of errors are in the log.
    keepNames: true,
    // For `node --enable-source-maps`. Without the sources, which would double the size.
    sourcemap: true,
    sourcemapExcludeSources: true,
    sourcemapPathTransform: (source, map) => relative(root, join(dirname(map), source)),
  });
  const sources = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  const folders = sources.flatMap((source) => packageFolderPattern.exec(source)?.[0] ?? []);
  return new Set(folders);
}

/** All modules are in one folder, so the file that a source opens beside itself has to be there too: a module of its own, or a copy. */
const emitOpenedFiles: Plugin = {
  name: "emit-opened-files",
  transform(code, id) {
    if (id.includes("/node_modules/")) return null;
    const rewritten = code.replaceAll(fileUrlPattern, (_, path: string) => {
      const file = join(dirname(id), path);
      const name = basename(path).replace(/\.ts$/, ".js");
      if (name === basename(path)) this.emitFile({ type: "asset", fileName: name, source: readFileSync(file) });
      else this.emitFile({ type: "chunk", id: file, fileName: name });
      return `new URL("${name}", import.meta.url)`;
    });
    // The lines are the same.
    return { code: rewritten, map: null };
  },
};

/** V8 takes two bytes for each character of a module that has one beyond Latin-1: 6 MB more for the modules of the gateway. */
const escapeCharacters: Plugin = {
  name: "escape-characters",
  renderChunk(code) {
    const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
    // The lines are the same.
    return { code: code.replaceAll(/[^\0-\xFF]/g, escape), map: null };
  },
};
