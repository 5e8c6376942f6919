import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installTool } from "../processes/tool-install.ts";

const folder = join(import.meta.dirname, "../../tools/cache-suite");
/** Where the suite lies once it is installed. */
export const suiteFolder = join(folder, "node_modules/http-cache-tests");

export interface SuiteTest {
  readonly id: string;
  readonly name: string;
  /** What RFC 9111 demands; what a good cache does; what one would just like to know. */
  readonly kind: "required" | "optimal" | "check";
  /** Ids of tests without whose success this one says nothing. */
  readonly dependsOn: readonly string[];
}

/** By id: true, or the kind of failure (`Setup`, `Assertion`, or an error's name) with its words. Tests for browsers are not run. */
export type SuiteResults = Readonly<Record<string, true | readonly [kind: string, words: string]>>;

export interface Suite {
  readonly tests: readonly SuiteTest[];
  /** All, or the one named, with every request and answer on the console. Once in a process: the suite keeps what it found. */
  run(url: string, only: string | undefined): Promise<SuiteResults>;
}

/** Returns why the suite cannot be had, in words; undefined when it is there. */
export function installSuite(): string | undefined {
  return installTool(folder);
}

/** As the suite's files have it; the rest of a test is its own business. */
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
  const raw = all.flatMap(({ tests }) => tests).filter((test) => test.browser_only !== true);
  // As the suite's own command line has it: Node's fetch would say more than a test asks it to say.
  const fetch: unknown = createRequire(join(suiteFolder, "cli.mjs"))("node-fetch");
  return {
    tests: raw.map(({ id, name, kind = "required", depends_on: dependsOn = [] }) => ({ id, name, kind, dependsOn })),
    async run(url, only) {
      const chosen = raw.filter(({ id }) => id === only).map((test) => ({ ...test, dump: true }));
      await runner.runTests(only === undefined ? all : [{ tests: chosen }], fetch, false, url);
      return runner.getResults();
    },
  };
}

/**
 * `Surrogate-Control` of a W3C Note of 2001 has become `CDN-Cache-Control` (RFC 9213): its tests are asked under that name, which is the one that
 * the cache heeds.
 */
function asTargeted(group: RawGroup): RawGroup {
  return JSON.parse(JSON.stringify(group).replaceAll("Surrogate-Control", "CDN-Cache-Control")) as RawGroup;
}

async function load(file: string): Promise<unknown> {
  return import(pathToFileURL(join(suiteFolder, file)).href);
}
