// Loaded into a door's process before its own code: names that stand in NAMES_FILE have the addresses that stand there. All else is looked up
// as ever.
import type { LookupAddress } from "node:dns";
import dns from "node:dns/promises";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isIP } from "node:net";

const file = process.env["NAMES_FILE"];
const lookUpAsEver = dns.lookup;

async function lookup(host: string, options: { readonly all: true }): Promise<readonly LookupAddress[]> {
  const names = JSON.parse(readFileSync(file ?? "", "utf8")) as Readonly<Record<string, readonly string[]>>;
  const addresses = names[host];
  return addresses?.map((address) => ({ address, family: isIP(address) })) ?? lookUpAsEver(host, options);
}

// A thread of the process has an environment of its own.
if (file !== undefined) {
  Object.assign(dns, { lookup });
  syncBuiltinESMExports();
}
