// Callers with tokens that the gateway verifies. The key is derived from a constant, so that each process of the benchmark has the same one.
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

/** DER of an Ed25519 private key up to its 32 bytes (RFC 8410, 7). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");
const seed = createHash("sha256").update("the key of the benchmark's callers").digest();
const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" });

const tokenTtlSeconds = 86_400;

export const issuer = "https://issuer.bench.test";

/** The issuer's public keys (RFC 7517). */
export const publicKeys = JSON.stringify({
  keys: [{ ...createPublicKey(privateKey).export({ format: "jwk" }), kid: "bench", alg: "EdDSA", use: "sig" }],
});

/** The `Authorization` of a caller, which is valid for a day. @param callerId from 1. */
export function authorize(callerId: number): string {
  const expirySeconds = Math.floor(Date.now() / 1_000) + tokenTtlSeconds;
  const header = { alg: "EdDSA", kid: "bench" };
  const claims = { iss: issuer, aud: "tributary", sub: String(callerId), scope: "", exp: expirySeconds };
  const signedText = `${encodeJson(header)}.${encodeJson(claims)}`;
  const signature = sign(null, Buffer.from(signedText), privateKey).toString("base64url");
  return `Bearer ${signedText}.${signature}`;
}

function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
