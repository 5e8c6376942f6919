// `--against`: what a change of Tributary costs, measured beside another checkout of the repository.
import { existsSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import type { Contender } from "./contender.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Pairs each Tributary contender with the same contender of another checkout, and leaves out all others. Both processes get the same environment
 * and run with the Node of this checkout; only the paths in the command differ.
 * @param folder the root of the checkout, with installed packages.
 * @throws Error if it is not such a folder, or no contender remains.
 */
export function pairWithCheckout(contenders: readonly Contender[], folder: string): readonly Contender[] {
  const otherRoot = resolve(folder);
  if (!existsSync(join(otherRoot, "node_modules/graphql"))) {
    throw new Error(`--against: ${otherRoot} is no checkout of this repository with installed packages.`);
  }
  const ourContenders = contenders.filter(({ isOurs }) => isOurs);
  if (ourContenders.length === 0) {
    throw new Error("--against compares only contenders of Tributary, and none is selected.");
  }
  return ourContenders.map((contender) => ({ ...contender, baseline: moveToCheckout(contender, otherRoot) }));
}

/** Replaces this checkout's root by `otherRoot` in each path of the contender's command. */
function moveToCheckout(contender: Contender, otherRoot: string): Contender {
  const ownPrefix = root + sep;
  const toOther = (word: string) => (word.startsWith(ownPrefix) ? join(otherRoot, word.slice(ownPrefix.length)) : word);
  return {
    ...contender,
    start(context) {
      const ownCommand = contender.start(context);
      return { ...ownCommand, args: ownCommand.args.map(toOther) };
    },
  };
}
