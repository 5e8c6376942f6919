import type { Repository, Rule, Violation } from "../repository.ts";

const migrationPath = /^(?:services\/[^/]+|kit\/src\/[^/]+|scripts\/new-service\/template)\/migrations\/.*\.sql$/;
const typeChange = /\balter\s+(?:column\s+)?(?:"[^"]+"|\w+)\s+(?:set\s+data\s+)?type\b/gi;
const acceptedTypeChange = /^--.*\btype change: \S/m;
const otherGeneratedId =
  /\b(?:int|int4|integer|smallint|int2)\b[^,;]*\bgenerated\b[^,;]*\bas\s+identity\b|\b(?:small|big)?serial\b/gi;

/** What a migration must not do, since it runs while the previous release serves. */
export const migrationRules: readonly Rule[] = [
  {
    name: "column-types-stay",
    sentence:
      "Changing a type rewrites the table under an exclusive lock, and breaks statements that running processes have prepared: add a column of the new type, backfill, switch, remove the former one later. A comment with `type change: ` and the reason why this one is safe accepts it.",
    find: (repository) => findInMigrations(repository, typeChange, (text) => acceptedTypeChange.test(text)),
  },
  {
    name: "generated-ids-are-bigint-identities",
    sentence:
      "A generated id is a bigint identity: after a restore it continues at the milliseconds since 2025 (skip_lost_ids() in kit/src/feed/migrations).",
    find: (repository) => findInMigrations(repository, otherGeneratedId),
  },
];

/** @param isAccepted whether the text of a file, with its comments, permits what the pattern finds in it. */
function findInMigrations(
  { texts }: Repository,
  pattern: RegExp,
  isAccepted: (text: string) => boolean = () => false,
): Violation[] {
  return [...texts]
    .filter(([path, text]) => migrationPath.test(path) && !isAccepted(text))
    .flatMap(([path, text]) => {
      const statements = text.replaceAll(/--.*/g, "");
      return [...statements.matchAll(pattern)].map(({ index, 0: found }) => {
        const line = statements.slice(0, index).split("\n").length;
        return { path, line, found: `contains "${found.replaceAll(/\s+/g, " ")}"` };
      });
    });
}
