// Progressive `@override`: a label `percent(n)` is true for n percent of the traces; any other one for all requests or for none, by configuration.
import { createHash } from "node:crypto";
import { type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from "graphql";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import { listReached } from "./normalize/resolve-conditions.ts";

/** For requests whose percentile is below `percentMax`, and not below that of the previous combination. */
export interface OverrideCombination {
  readonly percentMax: number;
  readonly labels: readonly string[];
}

export interface OverrideOptions {
  readonly apiSchema: GraphQLSchema;
  /** By field coordinate (rewrite/override-labels.ts). */
  readonly overrideLabels: ReadonlyMap<string, readonly string[]>;
  readonly enabledLabels: readonly string[];
}

const noLabels: OverrideCombination = { percentMax: 100, labels: [] };

/** By ascending `percentMax`; the last is 100. Where `percent(5)` is true, `percent(50)` is too: n labels have at most n + 1. */
export function createOverrideCombinations({ apiSchema, overrideLabels, enabledLabels }: OverrideOptions) {
  const enabled = new Set(enabledLabels);
  return (validated: ValidatedOperation): readonly OverrideCombination[] => {
    if (overrideLabels.size === 0) return [noLabels];
    const labels = [...findLabels(validated, apiSchema, overrideLabels)].toSorted();
    const percentOf = (label: string) => readPercent(label) ?? (enabled.has(label) ? 100 : 0);
    const percents = labels.map(percentOf).filter((percent) => percent > 0);
    const bounds = [...new Set([...percents, 100])].toSorted((one, other) => one - other);
    return bounds.map((percentMax) => ({
      percentMax,
      labels: labels.filter((label) => percentOf(label) >= percentMax),
    }));
  };
}

export function chooseCombination(combinations: readonly OverrideCombination[], traceId: string): OverrideCombination {
  // `noLabels` is for the type only: the list is never empty.
  const first = combinations[0] ?? noLabels;
  if (combinations.length === 1) return first;
  const percentile = percentileOf(traceId);
  // Always found: the last `percentMax` is 100.
  return combinations.find(({ percentMax }) => percentile < percentMax) ?? first;
}

const hashBytesRead = 6;
const hashValues = 2 ** (8 * hashBytesRead);

/** From 0 up to, not including, 100; equal in every replica. Hashed, because clients choose trace ids and samplers use their digits. */
export function percentileOf(traceId: string): number {
  const hash = createHash("sha256").update(traceId).digest();
  return (hash.readUIntBE(0, hashBytesRead) / hashValues) * 100;
}

const percentLabel = /^percent\((\d{1,2}(?:\.\d{1,8})?|100)\)$/;

/** The n of a label `percent(n)`, in the syntax that composition accepts. */
function readPercent(label: string): number | undefined {
  const [, percent] = percentLabel.exec(label) ?? [];
  return percent === undefined ? undefined : Number(percent);
}

function findLabels(
  { document, operation }: ValidatedOperation,
  apiSchema: GraphQLSchema,
  overrideLabels: OverrideOptions["overrideLabels"],
): ReadonlySet<string> {
  const labels = new Set<string>();
  const types = new TypeInfo(apiSchema);
  const visitor = visitWithTypeInfo(types, {
    Field({ name }) {
      const coordinate = `${types.getParentType()?.name}.${name.value}`;
      for (const label of overrideLabels.get(coordinate) ?? []) labels.add(label);
    },
  });
  for (const definition of listReached(document, operation)) visit(definition, visitor);
  return labels;
}
