import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const repository = fileURLToPath(new URL("..", import.meta.url));

test("the page is bundled under /graphiql/, once until its sources or the lock file change", async () => {
  const { bundle, run, write } = setUp();
  expect(await run()).toEqual({ code: 0, output: "" });
  const first = readdirSync(join(bundle, "assets"));
  expect(readFileSync(join(bundle, "index.html"), "utf8")).toContain(`src="/graphiql/assets/${first[0]}"`);

  writeFileSync(join(bundle, "untouched"), "");
  await run();
  expect(existsSync(join(bundle, "untouched"))).toBe(true);

  write("gateway/graphiql/main.ts", "document.title = 'two';");
  await run();
  expect(existsSync(join(bundle, "untouched"))).toBe(false);
  expect(readdirSync(join(bundle, "assets"))).not.toEqual(first);

  writeFileSync(join(bundle, "untouched"), "");
  write("package-lock.json", '{"changed":true}');
  await run();
  expect(existsSync(join(bundle, "untouched"))).toBe(false);
});

test("without development dependencies it prints one line and exits with 0", async () => {
  const { bundle, run } = setUp({ dependencies: false });
  const message = "GraphiQL is not bundled: vite is a development dependency, and is not installed.\n";
  expect(await run()).toEqual({ code: 0, output: message });
  expect(existsSync(bundle)).toBe(false);
});

test("a failed build leaves the old bundle, and does not fail the install", async () => {
  const { bundle, run, write } = setUp();
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, "index.html"), "old");
  write("gateway/graphiql/main.ts", "import './missing.ts';");
  const byHand = await run();
  expect(byHand.code).toBe(1);
  expect(byHand.output).toContain("GraphiQL is not bundled: ");
  const asPrepare = await run({ npm_lifecycle_event: "prepare" });
  expect(asPrepare.code).toBe(0);
  expect(asPrepare.output).toContain("Try again with: npm run bundle:graphiql");
  expect(readdirSync(join(bundle, ".."))).toEqual(["graphiql"]);
  expect(readFileSync(join(bundle, "index.html"), "utf8")).toBe("old");
});

/** A repository with a page of one line. */
function setUp({ dependencies = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tributary-bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (path: string, content: string) => writeFileSync(join(folder, path), content);
  for (const path of ["scripts", "gateway/graphiql"]) mkdirSync(join(folder, path), { recursive: true });
  copyFileSync(join(repository, "scripts/bundle-graphiql.mjs"), join(folder, "scripts/bundle-graphiql.mjs"));
  if (dependencies) symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  write("package-lock.json", "{}");
  write("gateway/graphiql/index.html", '<script type="module" src="./main.ts"></script>');
  write("gateway/graphiql/main.ts", "document.title = 'one';");
  const run = (environment: NodeJS.ProcessEnv = {}) =>
    runScript(join(folder, "scripts/bundle-graphiql.mjs"), environment);
  return { bundle: join(folder, "gateway/public/graphiql"), run, write };
}

async function runScript(script: string, environment: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [script], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, output: stdout + stderr };
}
