import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Two copies of graphql in one process are "another realm": everybody gets the CommonJS one that Apollo's packages load.
  resolve: { alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve("graphql") }] },
  test: {
    include: ["{kit,services,gateway,rest-proxy,supergraph,scripts,infra,test,bench}/**/*.test.ts"],
    exclude: ["**/node_modules/**"],
    globalSetup: ["kit/src/testing/postgres-global-setup.ts"],
    pool: "forks",
    // By itself one core of two would stay idle: most tests wait for processes and databases.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is polled for comes when a busy machine lets it.
    expect: { poll: { timeout: 30_000 } },
    coverage: {
      provider: "v8",
      include: ["{kit,services/*,gateway,rest-proxy}/src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/testing/**", "**/schema-types.ts"],
      reporter: ["text-summary", "json-summary"],
      // In each of them, not on the average.
      thresholds: Object.fromEntries(
        [
          "kit",
          "services/users",
          "services/posts",
          "services/comments",
          "services/orders",
          "gateway",
          "rest-proxy",
        ].map((folder) => [`${folder}/src/**`, { lines: 90 }]),
      ),
    },
  },
});
