import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import {
  endLocalPostgresLeftover,
  isAbandonedPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "../local-postgres/local-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's URL of the test run's cluster. Create databases with `ensureDatabase`. */
    postgresUrl: string;
  }
}

const prefix = "tributary-test-";
const memoryBytesMin = 512 * 1024 * 1024;

/** vitest's globalSetup: one PostgreSQL for the test run, in memory if the tmpfs /dev/shm has more than 512 MiB free. */
export default async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const base = chooseBase();
  await sweep(base);
  const folder = mkdtempSync(join(base, prefix));
  chmodSync(folder, 0o755); // If the tests run as root, PostgreSQL runs as another user.
  const directory = join(folder, "postgres");
  const lines: string[] = [];
  const remove = () => {
    removeLocalPostgres(directory);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const postgres = await startLocalPostgres({
      directory,
      port: 0,
      log: (line) => lines.push(line),
    });
    project.provide("postgresUrl", postgres.superuserUrl);
    return async () => {
      await postgres.stop();
      remove();
    };
  } catch (error) {
    remove();
    throw new Error(`The tests' PostgreSQL does not start.\n${lines.join("\n")}`, { cause: error });
  }
}

/** Stops the servers and removes the data of killed test runs, which would otherwise remain in memory. */
async function sweep(base: string): Promise<void> {
  for (const name of readdirSync(base).filter((entry) => entry.startsWith(prefix))) {
    const directory = join(base, name, "postgres");
    if (!isAbandonedPostgres(directory)) continue;
    await endLocalPostgresLeftover(directory, () => {});
    removeLocalPostgres(directory);
    rmSync(join(base, name), { recursive: true, force: true });
  }
}

function chooseBase(): string {
  const memory = "/dev/shm";
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > memoryBytesMin ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}
