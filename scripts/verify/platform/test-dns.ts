// Host names whose addresses change during chaos.ts, without a DNS server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { replaceFile } from "../../replace-file.ts";
import type { VerificationRun } from "../verification.ts";

/** Only on Linux are all addresses of 127.0.0.0/8 local without configuration. */
export const hasLoopbackNetwork = process.platform === "linux";

/** A substitute for DNS: gateway and REST proxy look up names in a file (test-dns-preload.ts). */
export interface DnsOverrides {
  /** The variables for a process that uses these names. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the addresses of a name. */
  publish(name: string, addresses: readonly string[]): void;
}

export function createDnsOverrides(onCleanup: VerificationRun["onCleanup"]): DnsOverrides {
  const folder = mkdtempSync(join(tmpdir(), "tributary-names-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "names.json");
  const names: Record<string, readonly string[]> = {};
  const preload = pathToFileURL(join(import.meta.dirname, "test-dns-preload.ts")).href;
  return {
    environment: { NAMES_FILE: file, NODE_OPTIONS: `--import=${preload}` },
    publish(name, addresses) {
      names[name] = addresses;
      replaceFile(file, JSON.stringify(names));
    },
  };
}
