import { expect, test } from "vitest";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import { readOptions, type ResilienceOptions } from "./options.ts";
import { reportAll } from "./report.ts";
import { GatewayFault } from "./platform/gateway-process.ts";
import { runCheck } from "./run.ts";

test.each([[[]], [["--control"]]])("a check that throws fails with %j", async (args) => {
  const { passed, lines } = await runAndReport(args, () => Promise.reject(new Error("no port")));
  expect(passed).toBe(false);
  expect(lines).toContain("  FAIL  the check completes: Error: no port");
  expect(lines.at(-1)).toBe("0 passed, 1 failed: aborts");
});

test("a fault that the control found does not hide that the check threw later", async () => {
  const { passed } = await runAndReport(["--control"], async ({ report }) => {
    report({ claim: "no request fails", passed: false, measured: "9 requests" });
    throw new Error("no port");
  });
  expect(passed).toBe(false);
});

test.each([
  [[], false],
  [["--control"], true],
] as const)("a gateway that ends is a fault: with %j the check passes: %s", async (args, expected) => {
  const { passed } = await runAndReport(args, () => Promise.reject(new GatewayFault("The gateway has ended")));
  expect(passed).toBe(expected);
});

test("all cleanups run in reverse order, and the check fails if one throws", async () => {
  const cleanups: string[] = [];
  const { passed, lines } = await runAndReport([], async ({ onCleanup }) => {
    onCleanup(() => cleanups.push("first"));
    onCleanup(() => Promise.reject(new Error("still running")));
    onCleanup(() => cleanups.push("last"));
  });
  expect(cleanups).toEqual(["last", "first"]);
  expect(lines).toContain("  FAIL  everything that the check started is stopped: Error: still running");
  expect(passed).toBe(false);
});

async function runAndReport(args: readonly string[], run: (context: CheckContext) => Promise<void>) {
  const check: ResilienceCheck = { name: "aborts", purpose: "disconnects are noticed", apolloFails: true, run };
  const options = readOptions(args, []) as ResilienceOptions;
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const outcome = await runCheck(check, { options, cores: { description: "", gatewayPrefix: [] }, print });
  return { passed: reportAll([outcome], options.control, print), lines };
}
