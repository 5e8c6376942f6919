// `--against`: what a change of Tributary costs, measured beside another checkout of the repository.
import { existsSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import type { Contender } from "../benchmark.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Pairs each Tributary contender with the same contender of another checkout, and leaves out all others. Both processes get the same environment
 * and run with the Node of this checkout; only the paths in the command differ.
 * @param folder the root of the checkout, with installed packages.
 * @throws Error if it is not such a folder, or no contender remains.
 */
export function pairWithCheckout(contenders: readonly Contender[], folder: string): readonly Contender[] {
  const other = resolve(folder);
  if (!existsSync(join(other, "node_modules/graphql"))) {
    throw new Error(`--against: ${other} is no checkout of this repository with installed packages.`);
  }
  const pairs = contenders.filter(({ isOurs }) => isOurs).map((contender) => pairWith(contender, other));
  if (pairs.length === 0) throw new Error("--against compares only contenders of Tributary, and none is selected.");
  return pairs;
}

function pairWith(contender: Contender, other: string): Contender {
  const baseline: Contender = {
    ...contender,
    start(context) {
      const { command, ...rest } = contender.start(context);
      const own = root + sep;
      return {
        ...rest,
        command: command.map((word) => (word.startsWith(own) ? join(other, word.slice(own.length)) : word)),
      };
    },
  };
  return { ...contender, baseline };
}
