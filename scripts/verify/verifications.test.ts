import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readCommandLine } from "./command-line.ts";
import { verifications } from "./verifications.ts";

const workflow = parse(readFileSync(new URL("../../.github/workflows/nightly.yml", import.meta.url), "utf8"));
const jobs: readonly { readonly verify: string }[] = workflow.jobs.verify.strategy.matrix.include;
const commands = jobs.flatMap(({ verify }) => verify.trim().split("\n")).map((line) => line.split(" "));

test("every night each verification runs in full, and its control", () => {
  for (const { name, options } of verifications) {
    const ofName = commands.filter(([first]) => first === name).map(([, ...args]) => args);
    const lines = ofName.map((args) => ({ args, ...readCommandLine(options, args) }));
    expect(
      lines.filter(({ isControl }) => isControl),
      name,
    ).not.toEqual([]);
    const inFull = lines.filter(({ isControl, args }) => !isControl && !args.includes("--quick"));
    expect(new Set(inFull.flatMap(partsOf)), name).toEqual(new Set(partsOf(readCommandLine(options, []))));
  }
  expect(commands.filter(([name]) => !verifications.some((one) => one.name === name))).toEqual([]);
});

test("every night the tests run with coverage and all generated inputs, and the unit tests of the alerts, which .ci/run does not run", () => {
  const steps: readonly { readonly run?: string }[] = workflow.jobs.coverage.steps;
  const rules = "infra/observability/rules/tests/alerts.yml";
  const runs = steps.map(({ run }) => run);
  expect(runs).toEqual(
    expect.arrayContaining(["FULL_SAMPLES=true npm test -- --coverage", `promtool test rules ${rules}`]),
  );
  expect(existsSync(new URL(`../../${rules}`, import.meta.url))).toBe(true);
});

/** The values of `--only`. */
function partsOf({ options }: Pick<ReturnType<typeof readCommandLine>, "options">): readonly unknown[] {
  return [options["only"] ?? []].flat();
}
