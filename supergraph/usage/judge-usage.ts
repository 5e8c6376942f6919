// Which breaking changes break no client, by the counted use of what they remove.
import { readFileSync } from "node:fs";
import { ChangeType } from "@graphql-inspector/core";
import { type Change, excuseChange } from "../changes/changes.ts";
import type { Route } from "../routes/routes.ts";
import { printClient, unusedDaysOf, usageEvidence, type UsageEvidence, type UsedElement } from "./usage.ts";

/** Of an element that can be removed. A client that is not used every day, such as a monthly report, has then been seen. */
const unusedDaysMin = 30;
/** Later, a client may have begun to use the element. */
const evidenceDaysMax = 7;
const dayMs = 86_400_000;

/** @returns a text if the file is no evidence. */
export function readUsageEvidence(file: string): UsageEvidence | string {
  try {
    const parsed = usageEvidence.safeParse(JSON.parse(readFileSync(file, "utf8")));
    return parsed.success
      ? parsed.data
      : `${file} is not written by npm run ledger: ${parsed.error.issues[0]?.message}`;
  } catch (error) {
    return `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** @param today in UTC: `2026-12-31`. @returns why the evidence does not count; undefined if it does. */
export function findStaleness({ until }: UsageEvidence, today: string): string | undefined {
  const day = until.slice(0, today.length);
  const age = (Date.parse(today) - Date.parse(day)) / dayMs;
  if (age >= 0 && age <= evidenceDaysMax) return undefined;
  return `The usage evidence is of ${day}, and may be at most ${evidenceDaysMax} days old: it changes nothing. Run npm run ledger again.`;
}

export interface UsageJudgement {
  readonly evidence: UsageEvidence;
  /** Those of the base: the evidence is about them. */
  readonly routes: readonly Route[];
  /** The clients whose operations of GraphQL are registered: these show what the client uses, and a request that only claims its name does not. */
  readonly registeredClients: ReadonlySet<string>;
}

/**
 * A removal of elements that no client has used becomes dangerous. One that known clients' operations need remains breaking, whatever was counted.
 */
export function judgeUsage(changes: readonly Change[], judgement: UsageJudgement): readonly Change[] {
  const byName = new Map(judgement.evidence.elements.map((element) => [element.element, element]));
  return changes.map((change) => {
    const names = change.level === "breaking" ? listRemoved(change, judgement.routes) : [];
    const elements = names.flatMap((name) => byName.get(name) ?? []);
    const isKnown = names.length > 0 && elements.length === names.length;
    if (!isKnown || (change.breaks ?? []).length > 0) return change;
    return judgeRemoval(change, elements, judgement);
  });
}

function judgeRemoval(
  change: Change,
  elements: readonly UsedElement[],
  { evidence: { until }, registeredClients }: UsageJudgement,
): Change {
  const recent = elements.flatMap(({ uses }) => uses).filter(({ daysAgo }) => daysAgo < unusedDaysMin);
  const isDisproved = ({ client, verified }: (typeof recent)[number]) =>
    !verified && change.breaks !== undefined && registeredClients.has(client);
  const proven = recent.filter((use) => !isDisproved(use));
  const claims = recent.filter(isDisproved);
  const knownDays = Math.min(...elements.map(({ wholeDays }) => wholeDays));
  const names = (used: typeof recent) => [...new Set(used.map(printClient))].join(", ");
  const add = (text: string) => ({ ...change, message: `${change.message} ${text}` });
  if (proven.length > 0) return add(`It is used by ${names(proven)}.`);
  if (knownDays < unusedDaysMin)
    return add(`Its use is known for ${knownDays} whole days, and ${unusedDaysMin} are needed.`);
  const day = until.slice(0, "2026-12-31".length);
  if (claims.length > 0)
    return excuseChange(
      change,
      `In the ${unusedDaysMin} days before ${day} only requests used it that claim to be of a client whose operations do not need it: ${names(claims)}.`,
    );
  const unusedDays = Math.min(...elements.map(unusedDaysOf));
  return excuseChange(change, `No client used it in the ${unusedDays} days before ${day}.`);
}

const removals: ReadonlySet<string> = new Set([
  ChangeType.FieldRemoved,
  ChangeType.FieldArgumentRemoved,
  ChangeType.InputFieldRemoved,
  ChangeType.EnumValueRemoved,
  "ROUTE_VERSION_REMOVED",
]);

/** The elements that a change removes, as the evidence names them; none for another kind of change. */
function listRemoved({ code, subject }: Change, routes: readonly Route[]): readonly string[] {
  if (removals.has(code)) return [subject];
  return routes.flatMap(({ id, method, path, versions }) =>
    versions.flatMap((version) => {
      const isRemoved =
        (code === "ROUTE_REMOVED" && subject === `${method} ${path}`) ||
        (code === "DOCUMENT_CHANGED" &&
          (subject === `${id} in v${version}: was removed` || subject === `v${version}: no longer has a document`));
      return isRemoved ? [`${method} ${path} v${version}`] : [];
    }),
  );
}
