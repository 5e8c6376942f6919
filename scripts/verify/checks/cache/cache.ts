// The public HTTP cache tests (http-cache-tests) against the shared cache alone, and against the REST proxy with its production settings, with routes
// made for the tests and with those of the product.
import { defineVerification, MissingToolError } from "../../verification.ts";
import { installTool } from "../../tool-install.ts";
import { type KnownFailures, knownFailures } from "./known-failures.ts";
import { startOrigin, startSubject } from "./subjects.ts";
import { loadSuite, type SuiteResults, type SuiteTest, suitePackage } from "./suite.ts";

export const cache = defineVerification({
  name: "cache",
  summary:
    "the shared cache, alone, in the REST proxy and on the product's routes, passes the public HTTP cache tests but for listed failures",
  description: `Runs the public HTTP cache tests (http-cache-tests, installed separately in tools/cache-suite) in front of the suite's origin, and compares the
failures with scripts/verify/checks/cache/known-failures.ts. "cache" is the shared cache of the REST proxy alone
(rest-proxy/src/cache/standalone): it obeys the clients' Cache-Control, accepts every method, and allows heuristic freshness for every response.
"proxy" is the REST proxy with PROFILE=production and the default settings, but with the routes of scripts/verify/checks/cache/routes.json,
which allow heuristic freshness, and without a rate limit for the tests. "product" is the same with supergraph/routes.json: the tests
read and delete comments. What the suite tests in its repository and not in its release, rest-proxy/src/cache/policy.test.ts and
rest-proxy/test/headers.test.ts test.`,
  options: {},
  control: "the tests run without a working cache",
  async run({ isControl, print, claim, onCleanup }) {
    const problem = installTool(suitePackage);
    if (problem !== undefined) throw new MissingToolError(problem);
    const suite = await loadSuite();
    const origin = await startOrigin(suite.origin);
    onCleanup(() => origin.stop());
    for (const subject of ["cache", "proxy", "product"] as const) {
      const server = await startSubject(subject, origin.url, isControl);
      onCleanup(() => server.stop());
      const results = await suite.run({ cache: server.url, testPath: server.testPath, origin: origin.url });
      const changes = findChanges(suite.tests, results, knownFailures[subject]);
      if (!isControl) for (const change of changes) print(`  ${subject}: ${change}`);
      claim(`${subject}: of ${suite.tests.length} tests only the known ones fail`, changes.length === 0, {
        measured: `${changes.length} differences`,
        control: "fails",
      });
    }
  },
});

/**
 * Unknown failures, and known failures that do not fail, one line each. A test that depends on one that did not pass has no result, as in the
 * suite.
 */
export function findChanges(
  tests: readonly SuiteTest[],
  results: SuiteResults,
  known: KnownFailures,
): readonly string[] {
  const testsById = new Map(tests.map((test) => [test.id, test]));
  const isMeaningful = (id: string): boolean =>
    (testsById.get(id)?.depends_on ?? []).every((other) => results[other] === true && isMeaningful(other));
  const isFailure = (id: string) => results[id] !== undefined && results[id] !== true && isMeaningful(id);
  const patterns = Object.keys(known).map((ids) => new RegExp(`^(?:${ids})$`));
  const isKnown = (id: string) => patterns.some((pattern) => pattern.test(id));
  return [
    ...tests.filter(({ id }) => results[id] === undefined).map(({ id }) => `${id} was not run`),
    ...tests
      .filter(({ id }) => isFailure(id) && !isKnown(id))
      .map(({ id, name }) => `${id} fails: ${String(results[id])} (${name})`),
    ...tests
      .filter(({ id }) => isKnown(id) && !isFailure(id))
      .map(({ id }) => `${id} is a known failure, but does not fail`),
    ...patterns
      .filter((pattern) => !tests.some(({ id }) => pattern.test(id)))
      .map((pattern) => `${pattern.source} is no test`),
  ];
}
