import { posix } from "node:path";
import type { Repository, Rule, Violation } from "../repository.ts";

/** Words of a private dialect, each with the term that the field uses for it. */
const bannedWords: readonly (readonly [banned: RegExp, instead: string])[] = [
  [/\bdoors?\b/, "endpoint"],
  [/\bhouses?\b/, "repository, project"],
  [/\bwho(?:m|so)?ever\b/, "the actor: client, caller, reader"],
  [/\bnobody\b/, "no client, no caller"],
  [/\bsomebody\b/, "a client, a caller"],
  [/\beverybody\b/, "all clients, all callers"],
  [/\btold\b/, "reported, logged, configured"],
  [/\bunder ?way\b/, "in flight, pending"],
  [/\bknock(?:s|ed|ing)?\b/, "probe"],
  [/\bfarewells?\b/, "connection close"],
  [/\brosters?\b/, "in-flight list"],
  [/\bseats?\b/, "worker slot"],
  [/\bchores?\b/, "setup task"],
];

/** They name the banned words; the changelog lists public names that were replaced. */
const definitions = new Set([
  "CHANGELOG.md",
  "test/architecture/rules/language-rules.ts",
  "test/architecture/planted.ts",
]);

export const languageRules: readonly Rule[] = [
  {
    name: "field-terms",
    sentence: "Code and documents use the field's standard terms.",
    find: findBannedWords,
  },
];

/** Banned words in comments, identifiers, messages, documents and file names. */
function findBannedWords({ texts }: Repository): Violation[] {
  return [...texts]
    .filter(([path]) => !definitions.has(path))
    .flatMap(([path, text]) => {
      const lines = [posix.basename(path), ...text.split("\n")];
      return lines.flatMap((line, index) =>
        listBanned(line).map((found) => ({ path, line: Math.max(1, index), found })),
      );
    });
}

function listBanned(line: string): string[] {
  const words = splitIdentifiers(line);
  return bannedWords.flatMap(([banned, instead]) => {
    const count = words.split(banned).length - 1;
    const found = `uses "${banned.exec(words)?.[0] ?? ""}" for: ${instead}`;
    return Array.from({ length: count }, () => found);
  });
}

/** "isUnderWay" becomes "is under way", and "closed_door" becomes "closed door". */
function splitIdentifiers(line: string): string {
  return line
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase();
}
