import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Only there are all of 127.0.0.0/8 this machine's own. */
export const hasLoopbackNetwork = process.platform === "linux";

/** What stands for DNS: names and their addresses, which the doors look up in a file. */
export interface Names {
  /** For a process that is to find them. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on the name has these addresses. */
  publish(name: string, addresses: readonly string[]): void;
}

export function createNames(folder: string): Names {
  const file = join(folder, "names.json");
  const names: Record<string, readonly string[]> = {};
  const preload = pathToFileURL(join(import.meta.dirname, "names-preload.ts")).href;
  return {
    environment: { NAMES_FILE: file, NODE_OPTIONS: `--import=${preload}` },
    publish(name, addresses) {
      names[name] = addresses;
      // At once: a reader finds the old file or the new one.
      writeFileSync(`${file}.new`, JSON.stringify(names));
      renameSync(`${file}.new`, file);
    },
  };
}
