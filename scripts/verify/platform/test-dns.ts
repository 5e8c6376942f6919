// Host names whose addresses change during chaos.ts, without a DNS server.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { replaceFile } from "../../replace-file.ts";

/** Only on Linux are all addresses of 127.0.0.0/8 local without configuration. */
export const hasLoopbackNetwork = process.platform === "linux";

/** A substitute for DNS: gateway and REST proxy look up names in a file of the folder (test-dns-preload.ts). */
export function createDnsOverrides(folder: string) {
  const file = join(folder, "names.json");
  const names: Record<string, readonly string[]> = {};
  const preload = pathToFileURL(join(import.meta.dirname, "test-dns-preload.ts")).href;
  return {
    /** The variables for a process that uses these names. */
    environment: { NAMES_FILE: file, NODE_OPTIONS: `--import=${preload}` },
    /** Sets the addresses of a name. */
    publish(name: string, addresses: readonly string[]): void {
      names[name] = addresses;
      replaceFile(file, JSON.stringify(names));
    },
  };
}
