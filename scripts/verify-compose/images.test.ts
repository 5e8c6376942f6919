import { expect, test } from "vitest";
import { findFaults } from "./images.ts";

const good = {
  User: "node",
  Healthcheck: { Test: ["CMD", "/app/infra/images/healthy"] },
  Entrypoint: ["/app/infra/images/start"],
  Cmd: ["node", "src/main.ts"],
  Env: ["NODE_COMPILE_CACHE=/app/.compile-cache"],
};

test("an image as it has to be has no faults", () => {
  expect(findFaults(good)).toEqual([]);
});

test.each([
  [{ User: "" }, "runs as root"],
  [{ Healthcheck: { Test: ["NONE"] } }, "has no health check"],
  [{ Cmd: ["/bin/sh", "-c", "node src/main.ts"] }, "is started by a shell, which keeps signals from Node"],
  [{ Env: [] }, "holds no compiled code"],
])("an image with %j %s", (wrong, fault) => {
  expect(findFaults({ ...good, ...wrong })).toEqual([fault]);
});
