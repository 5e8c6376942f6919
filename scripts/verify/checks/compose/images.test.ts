import { expect, test } from "vitest";
import { findImageFaults } from "./images.ts";

const good = {
  User: "node",
  Healthcheck: { Test: ["CMD", "/app/infra/images/healthy"] },
  Entrypoint: ["/app/infra/images/start"],
  Cmd: ["node", "src/main.ts"],
  Env: ["NODE_COMPILE_CACHE=/app/.compile-cache"],
};

test("a correct image has no faults", () => {
  expect(findImageFaults(good)).toEqual([]);
});

test.each([
  [{ User: "" }, "runs as root"],
  [{ Healthcheck: { Test: ["NONE"] } }, "has no health check"],
  [{ Cmd: ["/bin/sh", "-c", "node src/main.ts"] }, "is started by a shell, which does not forward signals to Node"],
  [{ Env: [] }, "contains no compile cache"],
])("an image with %j %s", (wrong, fault) => {
  expect(findImageFaults({ ...good, ...wrong })).toEqual([fault]);
});
