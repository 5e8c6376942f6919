import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";

export const algorithm = "ES256";

export interface SigningKey {
  readonly privateKey: CryptoKey;
  /** The public half as the JWKS shows it, with `kid`, `alg` and `use`. */
  readonly publicJwk: JWK & { readonly kid: string };
}

/**
 * The key that signs: from `keyFile` when there is one, else a new one, which is then kept there (mode 0600).
 * @param keyFile undefined keeps the key in memory only.
 * @throws Error naming the file when it holds something else: it is not ours to overwrite.
 */
export async function openSigningKey(keyFile: string | undefined): Promise<SigningKey> {
  if (keyFile === undefined) return toSigningKey(await generatePrivateJwk());
  const kept = await readKept(keyFile);
  if (kept) return toSigningKey(kept);
  const fresh = await generatePrivateJwk();
  await keep(keyFile, fresh);
  return toSigningKey(fresh);
}

async function generatePrivateJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return exportJWK(privateKey);
}

async function toSigningKey(privateJwk: JWK): Promise<SigningKey> {
  const { kty, crv, x, y } = privateJwk as Required<JWK>;
  const privateKey = (await importJWK({ ...privateJwk, key_ops: ["sign"] }, algorithm)) as CryptoKey;
  const kid = await calculateJwkThumbprint({ kty, crv, x, y });
  return { privateKey, publicJwk: { kty, crv, x, y, kid, alg: algorithm, use: "sig" } };
}

async function readKept(keyFile: string): Promise<JWK | undefined> {
  const text = await readFile(keyFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`KEY_FILE=${keyFile} cannot be read.`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    const jwk = JSON.parse(text) as JWK;
    if (jwk.crv !== "P-256" || typeof jwk.d !== "string") throw new TypeError("It is no private P-256 key.");
    await toSigningKey(jwk);
    return jwk;
  } catch (error) {
    throw new Error(`KEY_FILE=${keyFile} holds no signing key. Delete it, and a new one is made.`, {
      cause: error,
    });
  }
}

/** Written aside and renamed: an issuer that is killed meanwhile leaves the old file or none, never half of one. */
async function keep(keyFile: string, jwk: JWK): Promise<void> {
  await mkdir(dirname(keyFile), { recursive: true });
  const aside = `${keyFile}.${randomUUID()}`;
  await writeFile(aside, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: "wx" });
  await rename(aside, keyFile);
}
