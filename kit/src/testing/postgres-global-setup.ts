import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { removeLocalPostgres, startLocalPostgres } from "../local-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The superuser's URL of the cluster that lives as long as the test run. Make databases with `ensureDatabase`. */
    postgresUrl: string;
  }
}

const memoryBytesMin = 512 * 1024 * 1024;

/** vitest's globalSetup: one PostgreSQL for the whole run, in memory where the machine has a file system for that. */
export default async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(chooseBase(), "tributary-test-"));
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
