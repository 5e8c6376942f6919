import { expect, test } from "vitest";
import { runVerification } from "../../runner.ts";
import { defineVerification } from "../../verification.ts";
import { type CheckContext, type ResilienceCheck, runCheck, sizes } from "./check.ts";
import { GatewayFault } from "./tested-gateway.ts";

test.each([[[]], [["--control"]]])(
  "a check that throws fails with %j, also after a claim that does not hold",
  async (args) => {
    const { passed, lines } = await run(args, ({ claim }) => {
      claim("no request fails", false, "9 requests");
      return Promise.reject(new Error("no port"));
    });
    expect(passed).toBe(false);
    expect(lines).toContain("FAIL  the check completes and stops what it started: Error: no port");
  },
);

test.each([
  [[], false],
  [["--control"], true],
] as const)("a gateway that ends is a fault: with %j the check passes: %s", async (args, expected) => {
  const { passed } = await run(args, () => Promise.reject(new GatewayFault("The gateway has ended")));
  expect(passed).toBe(expected);
});

test("the control fails if a check with `apolloFails` finds no fault", async () => {
  expect((await run(["--control"], () => Promise.resolve())).passed).toBe(false);
  expect((await run(["--control"], () => Promise.resolve(), { apolloFails: false })).passed).toBe(true);
});

test("all cleanups run in reverse order, and the check fails if one throws", async () => {
  const cleanups: string[] = [];
  const { passed, lines } = await run([], ({ onCleanup }) => {
    onCleanup(() => cleanups.push("first"));
    onCleanup(() => Promise.reject(new Error("still running")));
    onCleanup(() => cleanups.push("last"));
    return Promise.resolve();
  });
  expect(cleanups).toEqual(["last", "first"]);
  expect(lines).toContain("FAIL  the check completes and stops what it started: Error: still running");
  expect(passed).toBe(false);
});

async function run(
  args: readonly string[],
  runCheckBody: (context: CheckContext) => Promise<void>,
  { apolloFails = true } = {},
) {
  const check: ResilienceCheck = { name: "aborts", purpose: "disconnects are noticed", apolloFails, run: runCheckBody };
  const verification = defineVerification({
    name: "resilience",
    summary: "",
    description: "",
    options: sizes,
    control: "",
    run: (run) => runCheck(check, run),
  });
  const lines: string[] = [];
  const exitCode = await runVerification(verification, args, (line) => void lines.push(line));
  return { passed: exitCode === 0, lines };
}
