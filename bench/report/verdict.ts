import { findRatio, printRatio } from "./ratios.ts";
import type { Tabled } from "./tables.ts";
import { loopPauseMsMax, ratioRows } from "./targets.ts";

/** One promise, held against a run. */
export interface Verdict {
  readonly promise: string;
  readonly isMet: boolean;
  readonly measured: string;
}

/** All promises of which both sides were measured. */
export function listVerdicts(tabled: Tabled): readonly Verdict[] {
  return [...judgeRatios(tabled), ...judgeMemory(tabled), ...judgePauses(tabled)];
}

/** How many are met, and each that is not. */
export function printVerdicts(verdicts: readonly Verdict[]): string {
  const missed = verdicts.filter(({ isMet }) => !isMet);
  const count = `${verdicts.length - missed.length} of ${verdicts.length} targets are met.`;
  if (verdicts.length === 0 || missed.length === 0) return verdicts.length === 0 ? "" : count;
  return `${count} Missed:\n\n${missed.map(({ promise, measured }) => `- ${promise}: ${measured}`).join("\n")}`;
}

function judgeRatios({ workloads, summaries }: Tabled): readonly Verdict[] {
  return ratioRows.flatMap((row) =>
    workloads.flatMap(({ name, title }) => {
      const ratio = findRatio(row, name, summaries);
      if (ratio.min === undefined || ratio.times === undefined) return [];
      return [{ promise: `${row.title}, ${title}`, isMet: ratio.isMet, measured: printRatio(ratio) }];
    }),
  );
}

/** Under load, ours takes no more memory than stock under the same. */
function judgeMemory({ workloads, contenders, summaries }: Tabled): readonly Verdict[] {
  return workloads.flatMap(({ name, title }) => {
    const stock = summaries.find(name, "stock")?.rssBytesMax;
    return contenders.flatMap((contender) => {
      const own = contender.isOurs ? summaries.find(name, contender.name)?.rssBytesMax : undefined;
      if (stock === undefined || own === undefined) return [];
      const measured = `${(own / 1e6).toFixed(0)} MB, stock ${(stock / 1e6).toFixed(0)} MB`;
      return [{ promise: `memory of ${contender.title}, ${title}`, isMet: own <= stock, measured }];
    });
  });
}

function judgePauses({ workloads, contenders, summaries }: Tabled): readonly Verdict[] {
  return workloads.flatMap(({ name, title }) =>
    contenders.flatMap((contender) => {
      const pauses = contender.isOurs ? summaries.find(name, contender.name)?.pauses : undefined;
      if (!pauses) return [];
      const measured = `${pauses.insideMaxMs.toFixed(1)} ms (≤ ${loopPauseMsMax})`;
      const isMet = pauses.insideMaxMs <= loopPauseMsMax;
      return [{ promise: `longest pause of ${contender.title}, ${title}`, isMet, measured }];
    }),
  );
}
