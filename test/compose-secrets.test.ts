import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

const script = readFileSync(new URL("../infra/compose/secrets.sh", import.meta.url), "utf8");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tributary-secrets-"));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
  mount("postgres", "users");
});

// The script needs the GNU tools of its image.
test.runIf(process.platform === "linux")(
  "a service that is added later gets secrets, and the existing secrets do not change",
  () => {
    runScript();
    const before = readSecrets();
    expect(Object.keys(before)).toEqual(["postgres/password", "users/cursor-keys", "users/password"]);
    for (const secret of Object.values(before)) expect(secret).toMatch(/^[0-9a-f]{48}$/);
    mount("billing-core");
    runScript();
    const after = readSecrets();
    expect(after).toMatchObject(before);
    expect(after["billing-core/password"]).toMatch(/^[0-9a-f]{48}$/);
    expect(after["billing-core/cursor-keys"]).toMatch(/^[0-9a-f]{48}$/);
  },
);

test.runIf(process.platform === "linux")(
  "a variable replaces a service's random secret, but not the superuser's",
  () => {
    mount("billing-core");
    runScript();
    const before = readSecrets();
    runScript({ USERS_PASSWORD: "u", BILLING_CORE_PASSWORD: "b", POSTGRES_PASSWORD: "p" });
    expect(readSecrets()).toEqual({ ...before, "users/password": "u", "billing-core/password": "b" });
  },
);

function mount(...names: readonly string[]): void {
  for (const name of names) mkdirSync(join(folder, name));
}

/** Runs the script on the temporary folder; in its container the volumes are mounted in /secrets. */
function runScript(variables: Readonly<Record<string, string>> = {}): void {
  const localScript = script.replaceAll("/secrets/", `${folder}/`);
  execFileSync("bash", ["--norc", "-c", localScript], {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function readSecrets(): Readonly<Record<string, string>> {
  const files = readdirSync(folder).flatMap((name) => readdirSync(join(folder, name)).map((file) => `${name}/${file}`));
  return Object.fromEntries(files.toSorted().map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}
