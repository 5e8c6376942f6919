import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
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
