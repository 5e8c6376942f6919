// Callers with tokens that the gateway verifies. The key is derived from a constant, so that each process of the benchmark has the same one.
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

/** DER of an Ed25519 private key up to its 32 bytes (RFC 8410, 7). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");
const seed = createHash("sha256").update("the key of the benchmark's callers").digest();
const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: "der", type: "pkcs8" });

export const issuer = "https://issuer.bench.test";

/** The issuer's public keys (RFC 7517). */
export const publicKeys = JSON.stringify({
  keys: [{ ...createPublicKey(privateKey).export({ format: "jwk" }), kid: "bench", alg: "EdDSA", use: "sig" }],
});

/** The `Authorization` of a caller, which is valid for a day. @param callerId from 1. */
export function authorize(callerId: number): string {
  const exp = Math.floor(Date.now() / 1_000) + 86_400;
  const parts = [
    { alg: "EdDSA", kid: "bench" },
    { iss: issuer, aud: "tributary", sub: String(callerId), scope: "", exp },
  ];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `Bearer ${text}.${sign(null, Buffer.from(text), privateKey).toString("base64url")}`;
}
