import { expect, test } from "vitest";
import { runService } from "./service.ts";
import { readServiceConfig } from "./service-config.ts";

test.each([
  [["migrat"], "Unknown command migrat. The only command is migrate."],
  [["migrate", "now"], "Unknown argument now. The only command is migrate."],
])("the arguments %j are rejected, and nothing is started", async (args, problem) => {
  let isStarted = false;
  const started = runService({
    name: "things",
    // Port 9 has no database: a started service or migration would fail with another error.
    config: readServiceConfig({ DATABASE_URL: "postgres://things@127.0.0.1:9/none", PORT: "0" }, { port: 0 }),
    migrations: new URL("migrations/", import.meta.url),
    createApp: () => {
      isStarted = true;
      throw new Error("The service was started.");
    },
    args,
  });
  await expect(started).rejects.toThrow(problem);
  expect(isStarted).toBe(false);
});
