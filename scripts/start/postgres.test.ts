import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { expect, onTestFinished, test } from "vitest";
import { supervisePostgres } from "./postgres.ts";

test("killing a stopped PostgreSQL does nothing", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tributary-postgres-")));
  chmodSync(root, 0o755); // PostgreSQL runs under another account if the test runs as root.
  const directory = join(root, "postgres");
  onTestFinished(() => {
    removeLocalPostgres(directory);
    rmSync(root, { recursive: true });
  });
  const postgres = await supervisePostgres({ directory, port: 0, print: () => {} });
  await postgres.stop();
  expect(() => postgres.kill()).not.toThrow();
});
