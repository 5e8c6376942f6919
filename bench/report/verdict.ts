import { findRatio, printRatio } from "./ratios.ts";
import type { TableData } from "./tables.ts";
import { loopPauseMsMax, ratioRows } from "./targets.ts";

/** A target and the value measured in a run. */
export interface Verdict {
  readonly target: string;
  readonly isMet: boolean;
  readonly measured: string;
}

/** Lists the targets whose contenders were all measured. */
export function listVerdicts(tableData: TableData): readonly Verdict[] {
  return [...judgeRatios(tableData), ...judgeMemory(tableData), ...judgePauses(tableData)];
}

/** Prints the number of met targets and a list of the missed targets. */
export function printVerdicts(verdicts: readonly Verdict[]): string {
  const missed = verdicts.filter(({ isMet }) => !isMet);
  const count = `${verdicts.length - missed.length} of ${verdicts.length} targets are met.`;
  if (verdicts.length === 0 || missed.length === 0) return verdicts.length === 0 ? "" : count;
  return `${count} Missed:\n\n${missed.map(({ target, measured }) => `- ${target}: ${measured}`).join("\n")}`;
}

function judgeRatios({ workloads, summaries }: TableData): readonly Verdict[] {
  return ratioRows.flatMap((row) =>
    workloads.flatMap(({ name, title }) => {
      const ratio = findRatio(row, name, summaries);
      if (ratio.min === undefined || ratio.value === undefined) return [];
      return [{ target: `${row.title}, ${title}`, isMet: ratio.isMet, measured: printRatio(ratio) }];
    }),
  );
}

/** Target: our gateway uses no more memory than stock under the same workload. */
function judgeMemory({ workloads, contenders, summaries }: TableData): readonly Verdict[] {
  return workloads.flatMap(({ name, title }) => {
    const stock = summaries.find(name, "stock")?.rssBytesMax;
    return contenders.flatMap((contender) => {
      const ours = contender.isOurs ? summaries.find(name, contender.name)?.rssBytesMax : undefined;
      if (stock === undefined || ours === undefined) return [];
      const measured = `${(ours / 1e6).toFixed(0)} MB, stock ${(stock / 1e6).toFixed(0)} MB`;
      return [{ target: `memory of ${contender.title}, ${title}`, isMet: ours <= stock, measured }];
    });
  });
}

function judgePauses({ workloads, contenders, summaries }: TableData): readonly Verdict[] {
  return workloads.flatMap(({ name, title }) =>
    contenders.flatMap((contender) => {
      const pauses = contender.isOurs ? summaries.find(name, contender.name)?.pauses : undefined;
      if (!pauses) return [];
      const measured = `${pauses.insideMaxMs.toFixed(1)} ms (≤ ${loopPauseMsMax})`;
      const isMet = pauses.insideMaxMs <= loopPauseMsMax;
      return [{ target: `longest pause of ${contender.title}, ${title}`, isMet, measured }];
    }),
  );
}
