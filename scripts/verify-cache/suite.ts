// Loads and runs the public HTTP cache tests (http-cache-tests).
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installTool } from "../processes/tool-install.ts";

const folder = join(import.meta.dirname, "../../tools/cache-suite");
/** The folder of the installed suite. */
export const suiteFolder = join(folder, "node_modules/http-cache-tests");

export interface SuiteTest {
  readonly id: string;
  readonly name: string;
  /** Required by RFC 9111; optimal behaviour; or only a check of the behaviour. */
  readonly kind: "required" | "optimal" | "check";
  /** Ids of tests that must pass for this one to have a meaning. */
  readonly dependsOn: readonly string[];
}

/** By id: true, or the kind of failure (`Setup`, `Assertion`, or an error's name) with its message. Tests for browsers are not run. */
export type SuiteResults = Readonly<Record<string, true | readonly [kind: string, message: string]>>;

export interface Suite {
  readonly tests: readonly SuiteTest[];
  /** Runs all tests, or one and prints its requests and responses. May be called once per process, because the suite stores its results. */
  run(url: string, only: string | undefined): Promise<SuiteResults>;
}

/** Installs the suite if needed. Returns why the installation failed; undefined if the suite is installed. */
export function installSuite(): string | undefined {
  return installTool(folder);
}

/** The fields of a test in the suite's files that this program uses. */
interface RawTest {
  readonly id: string;
  readonly name: string;
  readonly kind?: SuiteTest["kind"];
  readonly depends_on?: readonly string[];
  readonly browser_only?: boolean;
}

interface RawGroup {
  readonly tests: readonly RawTest[];
}

interface Runner {
  runTests(groups: readonly RawGroup[], fetch: unknown, isBrowser: boolean, baseUrl: string): Promise<void>;
  getResults(): SuiteResults;
}

export async function loadSuite(): Promise<Suite> {
  const runner = (await load("client/runner.mjs")) as Runner;
  const { default: groups } = (await load("tests/index.mjs")) as { readonly default: readonly RawGroup[] };
  const { default: surrogate } = (await load("tests/surrogate-control.mjs")) as { readonly default: RawGroup };
  const all = [...groups, asTargeted(surrogate)];
  const rawTests = all.flatMap(({ tests }) => tests).filter((test) => test.browser_only !== true);
  // The suite's command line uses node-fetch too: Node's fetch sends headers that a test does not set.
  const fetch: unknown = createRequire(join(suiteFolder, "cli.mjs"))("node-fetch");
  return {
    tests: rawTests.map(({ id, name, kind = "required", depends_on: dependsOn = [] }) => ({
      id,
      name,
      kind,
      dependsOn,
    })),
    async run(url, only) {
      const selected = rawTests.filter(({ id }) => id === only).map((test) => ({ ...test, dump: true }));
      await runner.runTests(only === undefined ? all : [{ tests: selected }], fetch, false, url);
      return runner.getResults();
    },
  };
}

/**
 * `CDN-Cache-Control` (RFC 9213) replaces `Surrogate-Control` (a W3C Note of 2001). The cache supports only the former, so the suite's tests
 * of the latter run with the new name.
 */
function asTargeted(group: RawGroup): RawGroup {
  return JSON.parse(JSON.stringify(group).replaceAll("Surrogate-Control", "CDN-Cache-Control")) as RawGroup;
}

async function load(file: string): Promise<unknown> {
  return import(pathToFileURL(join(suiteFolder, file)).href);
}
