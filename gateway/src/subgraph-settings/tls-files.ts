// Reads the files of `tls` in gateway.yaml: authorities, client certificates and their keys.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { readRegularFileSync } from "@tributary/kit/process/regular-file";
import type { SubgraphSections } from "./subgraph-schema.ts";

/** Their texts, by their paths. */
export type TlsFiles = ReadonlyMap<string, string>;

export interface TlsProblem {
  readonly path: readonly string[];
  readonly message: string;
}

type TlsPaths = NonNullable<NonNullable<SubgraphSections["all"]>["tls"]>;

/** @returns the files that can be read, and what would make every TLS handshake fail. */
export function readTlsFiles({ all, subgraphs = {} }: SubgraphSections): {
  readonly files: TlsFiles;
  readonly problems: readonly TlsProblem[];
} {
  const files = new Map<string, string>();
  const problems: TlsProblem[] = [];
  check(all?.tls, ["all", "tls"]);
  for (const [service, { tls }] of Object.entries(subgraphs)) check(tls, ["subgraphs", service, "tls"]);
  return { files, problems };

  function check(tls: TlsPaths | undefined, path: readonly string[]): void {
    if (!tls) return;
    const problemsBefore = problems.length;
    const readAs = <Value>(member: keyof typeof tls, what: string, parse: (text: string) => Value) => {
      const file = tls[member];
      const text = file === undefined ? undefined : readText(file, [...path, member]);
      if (file === undefined || text === undefined) return undefined;
      try {
        return parse(text);
      } catch {
        problems.push({ path: [...path, member], message: `${file} contains no ${what} in PEM` });
        return undefined;
      }
    };
    readAs("ca", "certificate", (text) => new X509Certificate(text));
    const certificate = readAs("cert", "certificate", (text) => new X509Certificate(text));
    const key: KeyObject | undefined = readAs("key", "private key without a passphrase", createPrivateKey);
    if (certificate && key && !certificate.checkPrivateKey(key))
      problems.push({ path: [...path, "key"], message: `${tls.key} is not the key of ${tls.cert}` });
    if (problems.length === problemsBefore) tryToUse(tls, path);
  }

  /** As for a connection: OpenSSL also reads the further certificates of a file, and refuses keys that are too short. */
  function tryToUse({ ca, cert, key }: TlsPaths, path: readonly string[]): void {
    try {
      createSecureContext({ ca: textOf(ca), cert: textOf(cert), key: textOf(key) });
    } catch (error) {
      problems.push({ path, message: `OpenSSL refuses them: ${(error as Error).message}` });
    }
  }

  function textOf(file: string | undefined): string | undefined {
    return file === undefined ? undefined : files.get(file);
  }

  function readText(file: string, path: readonly string[]): string | undefined {
    const known = files.get(file);
    if (known !== undefined) return known;
    try {
      const text = readRegularFileSync(file);
      files.set(file, text);
      return text;
    } catch (error) {
      problems.push({ path, message: `${file} cannot be read: ${(error as Error).message}` });
      return undefined;
    }
  }
}
