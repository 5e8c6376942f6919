import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { ClientCode } from "../../src/errors/codes.ts";
import type { SupergraphCase, ComparableResult } from "./supergraph-case.ts";
import { generateOperations } from "./generate-operations.ts";
import type { Aliases } from "./generate-selections.ts";
import type { Operation } from "./operation.ts";
import type { RunningCase } from "./start-case.ts";

export interface DifferentialOptions {
  readonly operationCount: number;
  readonly seed: number;
  readonly aliases: Aliases;
  readonly compare: Compare;
  /** False: returns the first difference, not the smallest operation with one. */
  readonly shrink?: boolean;
}

/** An operation whose result differs from the monolith's. */
export interface Difference {
  readonly operation: Operation;
  /** The part of the result that differs, and where. */
  readonly what: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

/** Operations that are tried to find a smaller one with a difference. */
const smallerTriesMax = 500;

export type Compare = (
  supergraphCase: SupergraphCase,
  live: RunningCase,
  operation: Operation,
) => Promise<Difference | undefined>;

/** Sends `operationCount` generated operations. Undefined if no result differs. */
export async function findDifference(
  supergraphCase: SupergraphCase,
  live: RunningCase,
  { operationCount, seed, aliases, compare, shrink = true }: DifferentialOptions,
): Promise<Difference | undefined> {
  const { argumentValues = {}, hasBranches = false } = supergraphCase;
  const operations = generateOperations(live.schema, { aliases, argumentValues, mayBranch: hasBranches });
  let last: Difference | undefined;
  let triesLeft = smallerTriesMax;
  const property = fc.asyncProperty(operations, async (operation) => {
    if (last && triesLeft-- <= 0) return true;
    const difference = await compare(supergraphCase, live, operation);
    if (difference) last = difference;
    return difference === undefined;
  });
  await fc.check(property, { numRuns: operationCount, seed, endOnFailure: !shrink });
  // The last one that failed is the smallest.
  return last;
}

/** Both paths respond with the monolith's data, with errors for the same nulls as the monolith, and with the same bytes as each other. */
export const comparePaths: Compare = async (supergraphCase, live, operation) => {
  const differ = (what: string, actual: unknown, expected: unknown): Difference => ({
    operation,
    what,
    actual,
    expected,
  });
  const monolith = await live.executeOnMonolith(operation);
  const full = await live.sendToGateway(operation, "full").catch(String);
  const [fast, concurrent] = await sendToFastPath(live, operation);
  if (typeof full === "string" || typeof fast === "string") {
    const isExpected =
      supergraphCase.mayReject !== undefined &&
      typeof full === "string" &&
      full === fast &&
      full.includes(unresolvable);
    return isExpected ? undefined : differ("rejected", { full, fast }, monolith);
  }
  if (full.path !== "full" || fast.path !== "fast") return differ("path", [full.path, fast.path], ["full", "fast"]);
  if (full.text !== fast.text) return differ("bytes of the two paths", fast.text, full.text);
  if (!isDeepStrictEqual(concurrent, fast)) return differ("bytes of two concurrent requests", concurrent, fast);
  if (supergraphCase.ambiguous !== undefined) return undefined;
  if (!isDeepStrictEqual(full.data, monolith.data)) return differ("data", full.data, monolith.data);
  const [nullPaths, expectedNullPaths] = [listNullPaths(full), listNullPaths(monolith)];
  if (supergraphCase.errorsDiffer !== undefined || isDeepStrictEqual(nullPaths, expectedNullPaths)) return undefined;
  return differ("errors", full.errors ?? [], monolith.errors ?? []);
};

/** Sends a query twice at once, so that its fetches are shared: neither response may depend on the other. */
async function sendToFastPath(live: RunningCase, operation: Operation): Promise<readonly [Sent, Sent]> {
  const send = (): Promise<Sent> => live.sendToGateway(operation, "fast").catch(String);
  if (!/^mutation/m.test(operation.query)) return Promise.all([send(), send()]);
  const result = await send();
  return [result, result];
}

type Sent = Awaited<ReturnType<RunningCase["sendToGateway"]>> | string;

const unresolvable: ClientCode = "OPERATION_NOT_RESOLVABLE";

/** The control: compares the data of stock Apollo Gateway, and nothing else. */
export const compareApolloGateway: Compare = async (_, live, operation) => {
  const { data: expected } = await live.executeOnMonolith(operation);
  const { data: actual } = await live.sendToStock(operation);
  return isDeepStrictEqual(actual, expected) ? undefined : { operation, what: "data of stock", actual, expected };
};

/**
 * For each error, the path of the null in the data that it propagated to. Each path is listed once, since errors below a null are not
 * compared: graphql-js stops at the first one, while subgraphs that are fetched in parallel report each error.
 */
export function listNullPaths({ data, errors = [] }: ComparableResult): readonly string[] {
  return [...new Set(errors.map(({ path }) => JSON.stringify(findNull(data, path))))].toSorted();
}

function findNull(data: unknown, path: readonly (string | number)[]): readonly (string | number)[] {
  let value = data;
  for (const [depth, step] of path.entries()) {
    if (value === null || value === undefined) return path.slice(0, depth);
    value = (value as Readonly<Record<string | number, unknown>>)[step];
  }
  return path;
}
