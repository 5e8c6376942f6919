import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalJWKSet, jwtVerify, SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { openSigningKey, type SigningKey } from "./signing-key.ts";

test("without a file each start generates a new key, and only its public part is published", async () => {
  const [one, two] = await Promise.all([openSigningKey(undefined), openSigningKey(undefined)]);
  expect(one.publicJwk.kid).not.toBe(two.publicJwk.kid);
  expect(Object.keys(one.publicJwk).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
  await expect(verify(await sign(one), one)).resolves.toBeDefined();
  await expect(verify(await sign(one), two)).rejects.toThrow();
});

test("a key in a file survives a restart, and only its owner may read the file", async () => {
  const keyFile = join(temporaryFolder(), "deeper", "key.json");
  const first = await openSigningKey(keyFile);
  const second = await openSigningKey(keyFile);
  expect(second.publicJwk).toEqual(first.publicJwk);
  await expect(verify(await sign(first), second)).resolves.toBeDefined();
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(keyFile, ".."))).toEqual(["key.json"]);
});

test.each(["", "{}", "my diary", '{"kty":"EC","crv":"P-256","d":"AA","x":"AA","y":"AA"}'])(
  "a file that holds %j is named and left alone",
  async (content) => {
    const keyFile = join(temporaryFolder(), "key.json");
    writeFileSync(keyFile, content);
    await expect(openSigningKey(keyFile)).rejects.toThrow(`KEY_FILE=${keyFile} contains no signing key`);
    expect(readFileSync(keyFile, "utf8")).toBe(content);
  },
);

test("an unreadable path is named in the error", async () => {
  const folder = temporaryFolder();
  await expect(openSigningKey(folder)).rejects.toThrow(`KEY_FILE=${folder} cannot be read`);
});

function sign({ privateKey, publicJwk }: SigningKey): Promise<string> {
  return new SignJWT().setProtectedHeader({ alg: "ES256", kid: publicJwk.kid }).sign(privateKey);
}

function verify(token: string, { publicJwk }: SigningKey) {
  return jwtVerify(token, createLocalJWKSet({ keys: [publicJwk] }));
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
