import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

// 14 MB and 50 ms of CPU time in each thread (kit/src/process/node-http.ts).
test.each([
  "gateway/src/server.ts",
  "gateway/src/engine/plan/planner/task-runner.ts",
  "services/users/src/app.ts",
  "kit/src/feed/feed-listener.ts",
])("%s does not load the HTTP client that is built into Node", (file) => {
  const code = `await import("./${file}"); process.stdout.write(process.moduleLoadList.join("\\n")); process.exit();`;
  const modules = execFileSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: root,
    encoding: "utf8",
  });
  expect(modules).not.toContain("internal/deps/undici/undici");
});
