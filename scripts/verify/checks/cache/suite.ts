// Loads and runs the public HTTP cache tests (http-cache-tests).
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The folder whose package.json has the suite. */
export const suitePackage = join(import.meta.dirname, "../../../../tools/cache-suite");
const suiteFolder = join(suitePackage, "node_modules/http-cache-tests");

/** The fields of a test in the suite's files that this program uses. */
export interface SuiteTest {
  readonly id: string;
  readonly name: string;
  /** Ids of tests that must pass for this one to have a meaning. */
  readonly depends_on?: readonly string[];
  readonly browser_only?: boolean;
}

/** By id: true, or the kind of failure (`Setup` for a request that prepares the test, `Assertion`, or an error's name) with its message. */
export type SuiteResults = Readonly<Record<string, true | readonly [kind: string, message: string]>>;

/** Base URLs, without a slash at the end. */
interface SuiteUrls {
  /** Of the cache to test. */
  readonly cache: string;
  /** Where it serves the tests, which have an id each: another URL than the suite's `/test` below `cache`, if that is no route of it. */
  readonly testPath: string;
  /** The configuration and the state of each test are sent to the origin directly. */
  readonly origin: string;
}

interface TestGroup {
  readonly tests: readonly SuiteTest[];
}

type Fetch = (url: string, init?: unknown) => Promise<unknown>;

/** client/config.mjs */
interface ClientConfig {
  setFetch(fetch: Fetch): void;
  setBaseUrl(url: string): void;
}

/** client/test.mjs */
interface TestRunner {
  makeCacheTest(test: SuiteTest): Promise<void>;
  readonly testResults: Record<string, SuiteResults[string]>;
}

/** @param segments of the path, after the name of the handler. */
type Handle = (segments: readonly string[], request: IncomingMessage, response: ServerResponse) => void;

/** The tests that run at the same time, as in the suite's own runner. */
const chunkSize = 100;
/** As the proxy forwards the path of a test: with the prefix of a service's REST endpoint, for a product's route with its path instead of `/test`. */
const forwardedPath = /^\/rest\/v\d+\/\w+(?=\/)/;

export async function loadSuite() {
  const tests = await loadTests();
  const config = (await load("client/config.mjs")) as ClientConfig;
  const { makeCacheTest, testResults } = (await load("client/test.mjs")) as TestRunner;
  // The suite's own command line uses node-fetch too, because Node's fetch adds headers that a test does not set.
  const fetch = createRequire(join(suiteFolder, "cli.mjs"))("node-fetch") as Fetch;

  return {
    tests,
    origin: await loadOrigin(),
    /** Runs all tests. One run at a time: the suite keeps its state in module variables. */
    async run({ cache, testPath, origin }: SuiteUrls): Promise<SuiteResults> {
      config.setBaseUrl(cache);
      config.setFetch((url, init) => {
        const isTestRequest = url.startsWith(`${cache}/test/`);
        return fetch(url.replace(isTestRequest ? `${cache}/test` : cache, isTestRequest ? testPath : origin), init);
      });
      // Removes the results of an earlier run.
      for (const id of Object.keys(testResults)) Reflect.deleteProperty(testResults, id);
      // The suite changes its tests while they run.
      const copies = structuredClone(tests);
      for (let index = 0; index < copies.length; index += chunkSize)
        await Promise.all(copies.slice(index, index + chunkSize).map(makeCacheTest));
      return { ...testResults };
    },
  };
}

/** All tests but those for browsers. */
async function loadTests(): Promise<readonly SuiteTest[]> {
  const { default: groups } = (await load("tests/index.mjs")) as { readonly default: readonly TestGroup[] };
  const { default: surrogate } = (await load("tests/surrogate-control.mjs")) as { readonly default: TestGroup };
  const tests = [...groups, asTargeted(surrogate)].flatMap((group) => group.tests);
  return tests.filter((test) => !test.browser_only);
}

/**
 * The origin to which the tests configure the responses: the request handlers of the suite's server, and the recorded requests of each test. It
 * serves every path also under `/rest/v<N>`, where the REST proxy expects it.
 */
async function loadOrigin(): Promise<RequestListener> {
  const handlers = new Map<string | undefined, Handle>();
  for (const name of ["config", "test"]) {
    const { default: handle } = (await load(`server/handle-${name}.mjs`)) as { readonly default: Handle };
    handlers.set(name, handle);
  }
  const { stash } = (await load("server/utils.mjs")) as { readonly stash: ReadonlyMap<string | undefined, unknown> };
  // The suite's own handler logs a warning for each test that sends nothing to the origin.
  handlers.set("state", ([testId], _request, response) => {
    const recordedRequests = stash.get(testId) ?? [];
    response.end(JSON.stringify(recordedRequests));
  });

  return (request, response) => {
    const url = request.url ?? "/";
    request.url = url.replace(forwardedPath, "/test");
    // The REST proxy forwards the errors of services only as problem documents. The suite's own type is text/plain.
    if (request.url !== url) setTypeOfErrors(response);
    const { pathname } = new URL(request.url, "http://origin.invalid");
    const [name, ...segments] = pathname.slice(1).split("/");
    const handle = handlers.get(name);
    if (handle) handle(segments, request, response);
    else response.writeHead(404).end();
  };
}

function setTypeOfErrors(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (...parameters: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    if (status >= 400) response.setHeader("Content-Type", "application/problem+json");
    return writeHead(status, ...rest);
  };
}

/**
 * `CDN-Cache-Control` (RFC 9213) replaces `Surrogate-Control` (a W3C Note of 2001). The cache supports only the former, so the suite's tests
 * of the latter run with the new name.
 */
function asTargeted(group: TestGroup): TestGroup {
  return JSON.parse(JSON.stringify(group).replaceAll("Surrogate-Control", "CDN-Cache-Control")) as TestGroup;
}

async function load(file: string): Promise<unknown> {
  return import(pathToFileURL(join(suiteFolder, file)).href);
}
