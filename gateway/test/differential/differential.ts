import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { ClientCode } from "../../src/errors/codes.ts";
import type { Animal, Expected } from "./supergraph-case.ts";
import { operationsOf } from "./generate-operations.ts";
import type { Aliases } from "./generate-selections.ts";
import type { Operation } from "./operation.ts";
import type { LiveAnimal } from "./start-case.ts";

export interface DifferentialOptions {
  readonly operationCount: number;
  readonly seed: number;
  readonly aliases: Aliases;
  readonly compare: Compare;
  /** False: the first operation that is answered differently, not the smallest. */
  readonly shrink?: boolean;
}

/** An operation that is not answered as the monolith answers it. */
export interface Difference {
  readonly operation: Operation;
  /** Which lane, or the control; and what of its answer differs. */
  readonly what: string;
  readonly answer: unknown;
  readonly wanted: unknown;
}

/** Operations that are tried to find a smaller one that shows the same. */
const smallerTriesMax = 500;

export type Compare = (animal: Animal, live: LiveAnimal, operation: Operation) => Promise<Difference | undefined>;

/** Asks so many generated operations; undefined when none is answered differently. */
export async function findDifference(
  animal: Animal,
  live: LiveAnimal,
  { operationCount, seed, aliases, compare, shrink = true }: DifferentialOptions,
): Promise<Difference | undefined> {
  const operations = operationsOf(live.schema, { aliases, argumentValues: animal.argumentValues ?? {} });
  let last: Difference | undefined;
  let triesLeft = smallerTriesMax;
  const property = fc.asyncProperty(operations, async (operation) => {
    if (last && triesLeft-- <= 0) return true;
    const difference = await compare(animal, live, operation);
    if (difference) last = difference;
    return difference === undefined;
  });
  await fc.check(property, { numRuns: operationCount, seed, endOnFailure: !shrink });
  // The last one that failed is the smallest.
  return last;
}

/** Both lanes give the monolith's data, the same bytes as each other, and errors for the same nulls as the monolith. */
export const compareLanes: Compare = async (animal, live, operation) => {
  const differ = (what: string, answer: unknown, wanted: unknown): Difference => ({ operation, what, answer, wanted });
  const monolith = await live.askMonolith(operation);
  const full = await live.ask(operation, "full").catch(String);
  const [fast, twin] = await askFast(live, operation);
  if (typeof full === "string" || typeof fast === "string") {
    const isExpected =
      animal.mayRefuse !== undefined && typeof full === "string" && full === fast && full.includes(unresolvable);
    return isExpected ? undefined : differ("refused", { full, fast }, monolith);
  }
  if (full.lane !== "full" || fast.lane !== "fast") return differ("lane", [full.lane, fast.lane], ["full", "fast"]);
  if (full.text !== fast.text) return differ("bytes of the lanes", fast.text, full.text);
  if (!isDeepStrictEqual(twin, fast)) return differ("bytes of two at once", twin, fast);
  if (animal.ambiguous !== undefined) return undefined;
  if (!isDeepStrictEqual(full.data, monolith.data)) return differ("data", full.data, monolith.data);
  const [told, wanted] = [listLostPlaces(full), listLostPlaces(monolith)];
  if (animal.errorsDiffer !== undefined || isDeepStrictEqual(told, wanted)) return undefined;
  return differ("errors", full.errors ?? [], monolith.errors ?? []);
};

/** A query is asked twice at once: its fetches are shared then, and neither must see what the other makes of them. */
async function askFast(live: LiveAnimal, operation: Operation): Promise<readonly [Asked, Asked]> {
  const ask = (): Promise<Asked> => live.ask(operation, "fast").catch(String);
  if (!/^mutation/m.test(operation.query)) return Promise.all([ask(), ask()]);
  const answer = await ask();
  return [answer, answer];
}

type Asked = Awaited<ReturnType<LiveAnimal["ask"]>> | string;

const unresolvable: ClientCode = "OPERATION_NOT_RESOLVABLE";

/** The control: stock's data, and nothing else of its answer. */
export const compareStock: Compare = async (_, live, operation) => {
  const { data: wanted } = await live.askMonolith(operation);
  const { data: answer } = await live.askStock(operation);
  return isDeepStrictEqual(answer, wanted) ? undefined : { operation, what: "data of stock", answer, wanted };
};

/**
 * The nulls that errors explain: for each error, where in the data its null has risen to. One null is explained once, for what lies
 * below it is not compared: graphql-js stops there at the first error, while subgraphs that are asked at once each tell theirs.
 */
export function listLostPlaces({ data, errors = [] }: Expected): readonly string[] {
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
