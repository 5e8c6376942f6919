import type { LookupFunction } from "node:net";
import { isIP } from "node:net";

/** For a connection whose address is known: `Host` and the TLS server name stay those of the URL, only the address is fixed. */
export function createFixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all: wantsAll }, callback) => {
    const [{ address, family } = { address: "", family: 0 }] = all;
    if (wantsAll) callback(null, all);
    else callback(null, address, family);
  };
}
