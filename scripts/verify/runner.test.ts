import { expect, test } from "vitest";
import { type CheckContext, type ResilienceCheck, runCheck } from "./checks/resilience/check.ts";
import { GatewayFault } from "./checks/resilience/tested-gateway.ts";
import { readCommandLine } from "./command-line.ts";
import { runVerification } from "./runner.ts";
import { defineVerification, MissingToolError, SkippedError, type VerificationRun } from "./verification.ts";

const options = {} as const;
const optionKinds = {
  parts: { fallback: ["a", "b"], quick: ["a"], why: "" },
  count: { fallback: 20, quick: 2, why: "" },
  folder: { fallback: "", why: "" },
};

async function run(work: (run: VerificationRun<typeof options>) => unknown, ...args: string[]) {
  const lines: string[] = [];
  const verification = defineVerification({
    ...{ name: "sample", summary: "", description: "A sample.", control: "breaks it" },
    options,
    run: async (o) => void (await work(o)),
  });
  const exitCode = await runVerification(verification, args, (line) => void lines.push(line));
  return { exitCode, output: lines.join("\n") };
}

test.each([
  [[], { parts: ["a", "b"], count: 20, folder: "" }],
  [["--quick"], { parts: ["a"], count: 2, folder: "" }],
  [["--quick", "--count", "7", "--parts", "b,a", "--folder", "x"], { parts: ["b", "a"], count: 7, folder: "x" }],
])("the options of %j", (args, values) => {
  expect(readCommandLine(optionKinds, args).options).toEqual(values);
});

test.each(["--count=1e3", "--parts=a,c", "--other=1", "a"])("%s is rejected", (arg) => {
  expect(() => readCommandLine(optionKinds, [arg])).toThrow();
});

test("a verification passes if all of its claims hold", async () => {
  const { exitCode, output } = await run(({ claim }) => claim("it works", true, { measured: "0 of 5 fail" }));
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: "ok    it works: 0 of 5 fail\n\n1 passed, 0 failed" });
});

test.each<[string, (run: VerificationRun<typeof options>) => unknown]>([
  ["a claim that does not hold", ({ claim }) => (claim("it works", true), claim("it is fast", false))],
  ["no claim", () => {}],
  ["an error", ({ claim }) => (claim("it works", true), Promise.reject(new Error("crash")))],
  [
    "a cleanup that fails",
    ({ claim, onCleanup }) => (claim("it works", true), onCleanup(() => Promise.reject(new Error("busy")))),
  ],
])("%s fails", async (_, work) => {
  expect((await run(work)).exitCode).toBe(1);
});

test("a control passes only if the claims that it breaks fail, and the claims that it does not break hold", async () => {
  const claims =
    (works: boolean, isFresh: boolean) =>
    ({ claim }: VerificationRun<typeof options>) => {
      claim("it works", works, { control: "holds" });
      claim("it is fresh", isFresh, { control: "fails" });
      claim("it is fast", false);
    };
  expect((await run(claims(true, false), "--control")).exitCode).toBe(0);
  expect((await run(claims(true, true), "--control")).exitCode).toBe(1);
  expect((await run(claims(false, false), "--control")).exitCode).toBe(1);
  expect((await run(() => Promise.reject(new Error("crash")), "--control")).exitCode).toBe(1);
});

test("cleanups run in reverse order, also after an error", async () => {
  const order: number[] = [];
  await run(({ onCleanup }) => {
    onCleanup(() => order.push(1));
    onCleanup(() => order.push(2));
    throw new Error("crash");
  });
  expect(order).toEqual([2, 1]);
});

test("a missing requirement skips the verification, and a missing tool is an error", async () => {
  const skipped = await run(() => Promise.reject(new SkippedError("Docker is not installed")));
  expect(skipped).toEqual({ exitCode: 0, output: "SKIPPED: nothing was verified, because Docker is not installed." });
  expect((await run(() => Promise.reject(new MissingToolError("npm ci failed")))).exitCode).toBe(2);
});

test("a requirement that is missing after the first claim is a failure", async () => {
  for (const error of [new SkippedError("Docker is not installed"), new MissingToolError("npm ci failed")]) {
    const { exitCode } = await run(({ claim }) => (claim("it works", true), Promise.reject(error)));
    expect(exitCode).toBe(1);
  }
});

test.each([[[]], [["--control"]]])(
  "a check that throws fails with %j, also after a claim that does not hold",
  async (args) => {
    const { passed, lines } = await runResilience(args, ({ claim }) => {
      claim("no request fails", false, "9 requests");
      return Promise.reject(new Error("no port"));
    });
    expect(passed).toBe(false);
    expect(lines).toContainEqual(expect.stringContaining("FAIL  the verification completes: Error: no port"));
  },
);

test.each([
  [[], false],
  [["--control"], true],
] as const)("a gateway that ends is a fault: with %j the check passes: %s", async (args, expected) => {
  const { passed } = await runResilience(args, () => Promise.reject(new GatewayFault("The gateway has ended")));
  expect(passed).toBe(expected);
});

test("the control fails if a check with `apolloFails` finds no fault", async () => {
  expect((await runResilience(["--control"], () => Promise.resolve())).passed).toBe(false);
});

async function runResilience(args: readonly string[], runCheckBody: (context: CheckContext) => Promise<void>) {
  const check: ResilienceCheck = { name: "sample", purpose: "a sample", apolloFails: true, run: runCheckBody };
  const verification = defineVerification({
    name: "resilience",
    summary: "",
    description: "",
    options: {},
    control: "",
    run: (run) => runCheck(check, run),
  });
  const lines: string[] = [];
  const exitCode = await runVerification(verification, args, (line) => void lines.push(line));
  return { passed: exitCode === 0, lines };
}
