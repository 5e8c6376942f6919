import { expect, test } from "vitest";
import { runVerification } from "./runner.ts";
import { defineVerification, MissingToolError, SkippedError, type VerificationRun } from "./verification.ts";

const options = {
  perSecond: { kind: "number", min: 8, max: 100, fallback: 40, quick: 10, why: "requests per second" },
  only: { kind: "names", of: ["users", "posts"], why: "parts" },
  logs: { kind: "text", placeholder: "FOLDER", why: "output" },
} as const;

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

test("options have their defaults, quick values and given values", async () => {
  const read = async (...args: string[]) => {
    let read: unknown;
    await run(({ options }) => void (read = options), ...args);
    return read;
  };
  expect(await read()).toEqual({ perSecond: 40, only: ["users", "posts"], logs: undefined });
  expect(await read("--quick")).toMatchObject({ perSecond: 10 });
  expect(await read("--quick", "--per-second", "8", "--only", "posts", "--logs", "a")).toEqual({
    perSecond: 8,
    only: ["posts"],
    logs: "a",
  });
});

test.each([
  ["--per-second", "7"],
  ["--per-second", "8.5"],
  ["--only", "users,orders"],
  ["--only", ""],
  ["--logs", ""],
  ["--unknown"],
  ["more"],
])("%s %s is rejected before anything starts", async (...args) => {
  let isStarted = false;
  expect(await run(() => void (isStarted = true), ...args)).toMatchObject({
    exitCode: 2,
    output: expect.stringContaining("--help"),
  });
  expect(isStarted).toBe(false);
});

test("--help describes every option", async () => {
  const { output, exitCode } = await run(() => {}, "--help");
  expect(exitCode).toBe(0);
  for (const part of [
    "A sample.",
    "--per-second N",
    "8 to 100; 40 by default (10 with --quick)",
    "--only A,B",
    "--logs FOLDER",
    "breaks it",
  ])
    expect(output).toContain(part);
});
