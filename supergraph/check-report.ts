// The result of `npm run check`, as text, as Markdown for a comment on a pull request, and as JSON.
import { type AcceptanceResult, acceptedChangesFile, printEntriesFor } from "./changes/accepted-changes.ts";
import { type Change, changeId, printChange, printChangePlace, printClients } from "./changes/changes.ts";
import type { GitBase } from "./changes/git-base.ts";

export interface CheckReport {
  /** 0: no base, or every breaking change is accepted. 1: invalid files, or a change that breaks clients. 2: wrong usage, or the check failed. */
  readonly code: 0 | 1 | 2;
  readonly notes: readonly string[];
  /** Undefined if nothing was compared: `lines` say why. */
  readonly comparison: Comparison | undefined;
  readonly lines: readonly string[];
}

interface Comparison {
  readonly changes: readonly Change[];
  readonly acceptance: AcceptanceResult;
  readonly base: Pick<GitBase, "name" | "commit">;
  /** Of known clients, that they may still use. */
  readonly releases: readonly string[];
  readonly today: string;
}

export type CheckFormat = "text" | "markdown" | "json";

const commitDigits = 10;
const rowsMax = 20;
const howToAccept = `To accept a change that no client depends on, add it to ${acceptedChangesFile} with a reason:`;

export function printReport(report: CheckReport, format: CheckFormat): string {
  if (format === "json") return `${JSON.stringify(toJson(report), undefined, 2)}\n`;
  const lines = format === "markdown" ? printMarkdown(report) : printText(report);
  return lines.map((line) => `${line}\n`).join("");
}

function printText({ notes, comparison, lines }: CheckReport): readonly string[] {
  const noteLines = notes.map((note) => `note: ${note}`);
  if (!comparison) return [...noteLines, ...lines];
  const { acceptance, base, releases, today } = comparison;
  const { unlisted } = acceptance;
  const proposedEntries = unlisted.length > 0 ? [howToAccept, ...printEntriesFor(unlisted, today)] : [];
  return [
    ...noteLines,
    ...listReported(comparison).map((change) => printChange(change, base.name, releases)),
    ...printEntries(comparison),
    ...proposedEntries,
    summarize(comparison),
  ];
}

/** One screen: a row for each change. */
function printMarkdown({ code, comparison, lines }: CheckReport): readonly string[] {
  const heading = `### Schema check ${code === 0 ? "passed" : "failed"}`;
  if (!comparison) return [heading, "", "```text", ...lines, "```"];
  const { base, releases } = comparison;
  const reported = listReported(comparison);
  const rows = reported.slice(0, rowsMax).map((change) => {
    const places = change.places.map((place) => printChangePlace(place, base.name));
    const clients = change.breaks ? printClients(change.breaks, releases) : "";
    return `| ${[change.level, `\`${changeId(change)}\``, change.message, places.join(", "), clients].map(toCell).join(" | ")} |`;
  });
  const table = ["| level | change | what | where | known clients |", "|---|---|---|---|---|", ...rows];
  const more = reported.length > rowsMax ? [`and ${reported.length - rowsMax} more: \`npm run check\``, ""] : [];
  return [
    heading,
    "",
    summarize(comparison),
    "",
    ...(rows.length > 0 ? [...table, "", ...more] : []),
    ...printEntries(comparison).map((line) => `- ${line}`),
  ];
}

function toCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", "<br>");
}

function toJson({ code, notes, comparison, lines }: CheckReport): unknown {
  const verdict = code === 0 ? "passed" : "failed";
  if (!comparison) return { verdict, notes, messages: lines };
  const { changes, acceptance, base, releases } = comparison;
  const failing = new Set(acceptance.breaking);
  return {
    verdict,
    notes,
    messages: [summarize(comparison), ...acceptance.errors],
    base: { name: base.name, commit: base.commit },
    releases,
    changes: changes.map((change) => ({ ...change, fails: failing.has(change) })),
    accepted: acceptance.accepted,
    unused: acceptance.unused,
  };
}

function listReported({ changes, acceptance }: Comparison): readonly Change[] {
  return changes.filter((change) => change.level === "dangerous" || acceptance.breaking.includes(change));
}

/** What supergraph/accepted-changes.yaml accepts, and what is wrong in it. */
function printEntries({ acceptance: { accepted, errors, unused }, base }: Comparison): readonly string[] {
  return [
    ...accepted.map(({ change, owner, until, reason }) => `ACCEPTED ${change} (${owner}) until ${until}: ${reason}`),
    ...errors,
    ...unused.map(
      ({ line, change }) =>
        `UNUSED ${acceptedChangesFile}:${line} ${change}: no breaking change matches it, compared with ${base.name}. Remove the entry.`,
    ),
  ];
}

function summarize({ acceptance, base: { name, commit } }: Comparison): string {
  const compared = `compared with ${name} (${commit.slice(0, commitDigits)}).`;
  const [breakingCount, acceptedCount] = [acceptance.breaking.length, acceptance.accepted.length];
  if (breakingCount > 0) {
    const changes = breakingCount === 1 ? "change" : "changes";
    const accepted = acceptedCount > 0 ? `, ${acceptedCount} accepted` : "";
    return `${breakingCount} breaking ${changes}${accepted}, ${compared}`;
  }
  if (acceptedCount === 1) return `The supergraph composes; 1 breaking change is accepted, ${compared}`;
  if (acceptedCount > 1) return `The supergraph composes; ${acceptedCount} breaking changes are accepted, ${compared}`;
  return `The supergraph composes and breaks no client, ${compared}`;
}
