// Stage 3 of 5: plan. Progressive `@override`: which of the labels that an operation depends on are true for a client request.
import { createHash } from "node:crypto";
import { type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from "graphql";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import { fragmentsOf } from "./normalize/resolve-conditions.ts";

/** Labels that are true together, for the requests whose percentile is below `percentMax` and not below that of the combination before. */
export interface OverrideCombination {
  readonly percentMax: number;
  readonly labels: readonly string[];
}

export interface OverrideOptions {
  readonly apiSchema: GraphQLSchema;
  /** The labels that the plan of each field depends on, by field coordinate. */
  readonly overrideLabels: ReadonlyMap<string, readonly string[]>;
  /** Labels other than `percent(n)` that are true; the rest of them are false. */
  readonly enabledLabels: readonly string[];
}

const noLabels: OverrideCombination = { percentMax: 100, labels: [] };
const withoutLabels: readonly OverrideCombination[] = [noLabels];

/**
 * Lists the combinations of labels that requests for an operation can have, by ascending percentile. At most one more than it has labels:
 * where `percent(5)` is true, `percent(50)` is.
 */
export function createOverrideCombinations({ apiSchema, overrideLabels, enabledLabels }: OverrideOptions) {
  const enabled = new Set(enabledLabels);
  return (admitted: ValidatedOperation): readonly OverrideCombination[] => {
    if (overrideLabels.size === 0) return withoutLabels;
    const labels = [...findLabels(admitted, apiSchema, overrideLabels)].toSorted();
    const shares = labels.map((label) => ({ label, percent: readPercent(label) ?? (enabled.has(label) ? 100 : 0) }));
    const bounds = new Set([...shares.map(({ percent }) => percent).filter((percent) => percent > 0), 100]);
    return [...bounds]
      .toSorted((one, other) => one - other)
      .map((percentMax) => ({
        percentMax,
        labels: shares.flatMap(({ label, percent }) => (percent >= percentMax ? label : [])),
      }));
  };
}

/** The combination for a request. Hashes its trace id only if the combinations differ by request. */
export function chooseCombination(combinations: readonly OverrideCombination[], traceId: string): OverrideCombination {
  const first = combinations[0] ?? noLabels;
  if (combinations.length === 1) return first;
  const percentile = percentileOf(traceId);
  return combinations.find(({ percentMax }) => percentile < percentMax) ?? first;
}

/**
 * From 0 up to but not including 100, evenly spread. Equal for all requests of a trace, in every replica of the gateway. Hashed, because
 * callers choose trace ids and samplers select by their digits.
 */
export function percentileOf(traceId: string): number {
  return (createHash("sha256").update(traceId).digest().readUIntBE(0, 6) / 2 ** 48) * 100;
}

const percentLabel = /^percent\((\d{1,2}(?:\.\d{1,8})?|100)\)$/;

/** Of a label `percent(n)`, as composition accepts it. */
function readPercent(label: string): number | undefined {
  const [, percent] = percentLabel.exec(label) ?? [];
  return percent === undefined ? undefined : Number(percent);
}

/** The labels of all fields that the operation selects, whatever its conditions. */
function findLabels(
  { document, operation }: ValidatedOperation,
  apiSchema: GraphQLSchema,
  overrideLabels: OverrideOptions["overrideLabels"],
): ReadonlySet<string> {
  const labels = new Set<string>();
  const fragments = fragmentsOf(document);
  const reached = new Set<Parameters<typeof visit>[0]>([operation]);
  const types = new TypeInfo(apiSchema);
  const visitor = visitWithTypeInfo(types, {
    Field({ name }) {
      const coordinate = `${types.getParentType()?.name}.${name.value}`;
      for (const label of overrideLabels.get(coordinate) ?? []) labels.add(label);
    },
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value);
      if (fragment) reached.add(fragment);
    },
  });
  for (const definition of reached) visit(definition, visitor);
  return labels;
}
