import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const platformTests = "test/platform/*.test.ts";
const browserTests = "test/browser/*.test.ts";
const exampleTests = "test/platform/service-in-python.test.ts";
/** These tests measure the heap of their process, so each file needs a process without the garbage of other files. */
const isolatedTests = ["gateway/test/retention.test.ts", "kit/src/collections/in-flight-list.test.ts"];

export default defineConfig({
  // graphql-js throws "from another module or realm" if two copies of it are loaded. So all modules load the CommonJS copy, as Apollo's do.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve("graphql") }] },
  test: {
    projects: [
      // `npm test` runs this project and the next one: on every save.
      {
        extends: true,
        test: {
          name: "suite",
          // A worker imports a module once, not once for each file: saves 13 % of the time. Tests leave no state in modules.
          isolate: false,
          include: ["{kit,services,gateway,rest-proxy,supergraph,scripts,infra,test,bench}/**/*.test.ts"],
          exclude: ["**/node_modules/**", platformTests, browserTests, ...isolatedTests],
        },
      },
      { extends: true, test: { name: "isolated", include: isolatedTests } },
      // `npm run test:platform`: whole platforms, started from clones of the repository.
      { extends: true, test: { name: "platform", include: [platformTests], exclude: [exampleTests] } },
      // `npm run test:example`: a platform with the service in Python, every night. It takes as long as a third of the other platforms.
      { extends: true, test: { name: "example", include: [exampleTests] } },
      // `npm run test:browser`: the pages of a whole platform, in Chromium.
      { extends: true, test: { name: "browser", include: [browserTests] } },
    ],
    globalSetup: ["kit/src/testing/postgres-global-setup.ts", "kit/src/testing/compile-cache-global-setup.ts"],
    pool: "forks",
    // Vitest's default would use one of two cores, although most tests wait for processes and databases.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // They only end what hangs: on a busy machine a test takes twenty times as long. So no test has limits of its own.
    testTimeout: process.env["FULL_SAMPLES"] === "true" ? 1_800_000 : 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    coverage: {
      provider: "v8",
      include: ["{kit,services/*,gateway,rest-proxy}/src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/testing/**", "**/schema-types.ts"],
      reporter: ["text-summary", "json-summary"],
      // For each package, not on average.
      thresholds: Object.fromEntries(
        ["kit", ...globSync("services/*", { cwd: import.meta.dirname }), "gateway", "rest-proxy"].map((folder) => [
          `${folder}/src/**`,
          { lines: 90 },
        ]),
      ),
    },
  },
});
