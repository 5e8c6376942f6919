// Loaded by NODE_OPTIONS (test-dns.ts) into the gateway's and the REST proxy's process before their code: names in NAMES_FILE resolve to the
// addresses in that file. Other names are resolved as usual.
import type { LookupAddress } from "node:dns";
import dns from "node:dns/promises";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isIP } from "node:net";

const namesFile = process.env["NAMES_FILE"];
const originalLookup = dns.lookup;

/** Reads the file for each lookup, because chaos.ts changes it. */
async function lookup(host: string, options: { readonly all: true }): Promise<readonly LookupAddress[]> {
  const names = JSON.parse(readFileSync(namesFile ?? "", "utf8")) as Readonly<Record<string, readonly string[]>>;
  const addresses = names[host];
  if (addresses === undefined) return originalLookup(host, options);
  return addresses.map((address) => ({ address, family: isIP(address) }));
}

// Worker threads may have another environment, without NAMES_FILE.
if (namesFile !== undefined) {
  Object.assign(dns, { lookup });
  // So that `import { lookup }` in other modules is this function too.
  syncBuiltinESMExports();
}
