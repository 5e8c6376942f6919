// Stage 3 of 5: how to answer? Places in subgraphs' data, in the client's words.
import { collectFields, responseNameOf, selectionSetsOf } from "../normalize/collect-fields.ts";
import type { PositionAbout, PositionOptions } from "./position-about.ts";

type Path = readonly (string | number)[];

/** Planner keys and list indexes below selection sets of the client, as response names; cut before the first that clients do not see. */
export function toClientPath(
  steps: Path,
  clientSets: PositionAbout["clientSets"],
  { clientKeyOf }: PositionOptions,
): Path {
  const path: (string | number)[] = [];
  let sets = clientSets;
  for (const step of steps) {
    if (typeof step === "string") {
      const fields = collectFields(sets, () => true, clientKeyOf).get(step);
      if (!fields?.[0]) break;
      path.push(responseNameOf(fields[0]));
      sets = selectionSetsOf(fields);
    } else if (step >= 0) path.push(step);
    else break;
  }
  return path;
}
