import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";

export const algorithm = "ES256";

export interface SigningKey {
  readonly privateKey: CryptoKey;
  /** As published in the JWKS. */
  readonly publicJwk: JWK & { readonly kid: string };
}

/** Loads the key, or creates the file (mode 0600). @throws Error if the file has other content; it is never overwritten. */
export async function openSigningKey(keyFile: string | undefined): Promise<SigningKey> {
  if (keyFile === undefined) return toSigningKey(await generatePrivateJwk());
  const storedJwk = await readKeyFile(keyFile);
  if (storedJwk) return toSigningKey(storedJwk);
  const generatedJwk = await generatePrivateJwk();
  await writeKeyFile(keyFile, generatedJwk);
  return toSigningKey(generatedJwk);
}

async function generatePrivateJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return exportJWK(privateKey);
}

async function toSigningKey(privateJwk: JWK): Promise<SigningKey> {
  // The public members of an EC key (RFC 7518, section 6.2.1); `d` is the private one.
  const { kty, crv, x, y } = privateJwk as Required<JWK>;
  const privateKey = (await importJWK({ ...privateJwk, key_ops: ["sign"] }, algorithm)) as CryptoKey;
  // The key's id is its thumbprint (RFC 7638), so a key that is loaded again has the same id.
  const kid = await calculateJwkThumbprint({ kty, crv, x, y });
  return { privateKey, publicJwk: { kty, crv, x, y, kid, alg: algorithm, use: "sig" } };
}

async function readKeyFile(keyFile: string): Promise<JWK | undefined> {
  const text = await readFile(keyFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`KEY_FILE=${keyFile} cannot be read.`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    const jwk = JSON.parse(text) as JWK;
    if (jwk.crv !== "P-256" || typeof jwk.d !== "string") throw new TypeError("This is not a private P-256 key.");
    await toSigningKey(jwk);
    return jwk;
  } catch (error) {
    throw new Error(`KEY_FILE=${keyFile} contains no signing key. Delete the file to generate a new key.`, {
      cause: error,
    });
  }
}

/** Writes a temporary file and renames it, so that a killed process never leaves an incomplete file. */
async function writeKeyFile(keyFile: string, jwk: JWK): Promise<void> {
  await mkdir(dirname(keyFile), { recursive: true });
  const temporaryFile = `${keyFile}.${randomUUID()}`;
  await writeFile(temporaryFile, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: "wx" });
  await rename(temporaryFile, keyFile);
}
