import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serviceNames } from "./parts.ts";
import { loadSecrets } from "./secrets.ts";

test("secrets are created once, readable only by their owner", () => {
  const folder = newFolder();
  const secrets = loadSecrets(folder);
  expect(Object.keys(secrets.databasePasswords)).toEqual(serviceNames);
  expect(new Set([...Object.values(secrets.databasePasswords), secrets.cursorKey]).size).toBe(serviceNames.length + 1);
  expect(loadSecrets(folder)).toEqual(secrets);
  expect(statSync(join(folder, "secrets.json")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["secrets.json"]);
});

test("a new service gets a password; no existing secret changes", () => {
  const folder = newFolder();
  const file = join(folder, "secrets.json");
  const databasePasswords = { users: "u", posts: "p", retired: "r" };
  writeFileSync(file, JSON.stringify({ databasePasswords, cursorKey: "k" }), { mode: 0o644 });
  const secrets = loadSecrets(folder);
  expect(secrets).toMatchObject({ databasePasswords, cursorKey: "k" });
  expect(secrets.databasePasswords.orders).toMatch(/^\w{48}$/);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(secrets);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the error for a file that is not JSON names the file and what to do", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "secrets.json"), "{");
  expect(() => loadSecrets(folder)).toThrow(/secrets\.json is not valid JSON.*Delete it/s);
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
