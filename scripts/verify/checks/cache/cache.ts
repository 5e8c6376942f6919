// The public HTTP cache tests (http-cache-tests) against the shared cache alone, and against the REST proxy with its production settings.
import { defineVerification, MissingToolError, type Options, type VerificationRun } from "../../verification.ts";
import { knownFailuresOf } from "./known-failures.ts";
import { describeResult, findChanges, toTable } from "./outcomes.ts";
import { descriptions, startOrigin, startSubject, type Subject } from "./subjects.ts";
import { installSuite, loadSuite, type Suite } from "./suite.ts";

const options = {
  only: { kind: "text", placeholder: "ID", why: "runs one test of the suite, and prints every request and response" },
} as const satisfies Options;

export const cache = defineVerification({
  name: "cache",
  summary: "the shared cache, alone and in the REST proxy, passes the public HTTP cache tests but for listed failures",
  description: `Runs the public HTTP cache tests (http-cache-tests, installed separately in tools/cache-suite) in front of the suite's origin: against the
shared cache of the REST proxy alone, and against the whole REST proxy with its production settings. Compares the failures of each with
scripts/verify/checks/cache/known-failures.ts.`,
  options,
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then, and claims without `control` are not judged.
  control: "the tests run without a working cache",
  async run(run) {
    const problem = installSuite();
    if (problem !== undefined) throw new MissingToolError(problem);
    const suite = await loadSuite();
    const origin = await startOrigin(suite.origin);
    run.onCleanup(() => origin.stop());
    await verifySubject("cache", suite, origin.url, run);
    await verifySubject("proxy", suite, origin.url, run);
  },
});

async function verifySubject(
  subject: Subject,
  suite: Suite,
  origin: string,
  { options: { only }, isControl, print, claim, onCleanup }: VerificationRun<typeof options>,
): Promise<void> {
  const server = await startSubject(subject, origin, isControl);
  onCleanup(() => server.stop());
  print(`\n${descriptions[subject]}\n`);
  const results = await suite.run({ cache: server.url, origin }, only);
  if (only !== undefined) {
    claim(`${subject}: ${only} passes`, results[only] === true, { measured: describeResult(results[only]) });
    return;
  }
  const known = knownFailuresOf(subject);
  for (const line of toTable(suite.tests, results)) print(line);
  print("");
  for (const { ids, reason } of known) print(`${String(ids.length).padStart(4)}  ${reason}`);
  const changes = findChanges(suite.tests, results, known);
  print("");
  if (!isControl) for (const change of changes) print(`      ${change}`);
  claim(`${subject}: only known failures fail, and all of them still fail`, changes.length === 0, {
    measured: `${changes.length} differences`,
    control: "fails",
  });
}
