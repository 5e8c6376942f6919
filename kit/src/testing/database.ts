import { randomBytes } from "node:crypto";
import { createDatabase, type Database, type DatabaseOptions, type Writer } from "../postgres/postgres.ts";
import { ensureDatabase } from "../local-postgres/local-postgres.ts";
import { silentLog } from "../process/log.ts";
import { isMissingInSchema } from "../postgres/failures.ts";
import { migrate } from "../postgres/migrate.ts";

export interface TestDatabase {
  readonly url: string;
  readonly database: Database;
  takeStatements(): readonly string[];
  /** @throws the first error because of a column or table that the schema lacks: responses mask it. */
  requireSchema(): void;
  close(): Promise<void>;
}

const transactionSteps = new Set(["acquire", "begin", "commit", "rollback"]);

/** Creates a migrated database in the test run's cluster, owned by a new role. */
export async function createTestDatabase(
  postgresUrl: string,
  migrations: string,
  { aroundStatement = (_, run) => run() }: Pick<DatabaseOptions, "aroundStatement"> = {},
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = await ensureDatabase(postgresUrl, { name, role: name, password: "test" });
  await migrate({ databaseUrl: url, directory: migrations, log: silentLog });
  let statements: string[] = [];
  let schemaError: Error | undefined;
  const database = createDatabase({
    url,
    applicationName: name,
    connectionsMax: 10,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 5_000,
    acquireTimeoutMs: 10_000,
    async aroundStatement(step, run) {
      if (!transactionSteps.has(step)) statements.push(step);
      try {
        return await aroundStatement(step, run);
      } catch (error) {
        if (isMissingInSchema(error)) schemaError ??= error;
        throw error;
      }
    },
  });
  return {
    url,
    database,
    takeStatements() {
      const taken = statements;
      statements = [];
      return taken;
    },
    requireSchema() {
      if (schemaError) throw schemaError;
    },
    close: () => database.close(),
  };
}

/** For an endpoint whose handlers do not write. */
export const noDatabase: Pick<Writer, "write"> = { write: () => Promise.reject(new Error("There is no database.")) };
