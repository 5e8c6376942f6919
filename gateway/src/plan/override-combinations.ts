// Progressive `@override`: decides for plan.ts which labels are true for a request. A label `percent(n)` is true for n percent of the traces. The
// configuration decides whether any other label is true for all requests or for none.
import { createHash } from "node:crypto";
import { type ExecutableDefinitionNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from "graphql";
import type { ValidatedOperation } from "../parse/validated-operation.ts";
import { fragmentsOf } from "./normalize/resolve-conditions.ts";

/** The labels that are true for requests whose percentile is below `percentMax`, and at least the `percentMax` of the previous combination. */
export interface OverrideCombination {
  readonly percentMax: number;
  readonly labels: readonly string[];
}

export interface OverrideOptions {
  readonly apiSchema: GraphQLSchema;
  /** By field coordinate: the labels on which the plan of the field depends, its own and those of fields that the planner may fetch for it. */
  readonly overrideLabels: ReadonlyMap<string, readonly string[]>;
  /** The labels other than `percent(n)` that are true; all others are false. */
  readonly enabledLabels: readonly string[];
}

const noLabels: OverrideCombination = { percentMax: 100, labels: [] };

/**
 * Returns a function that lists the combinations of labels for an operation, by ascending `percentMax`; the last is 100. Where `percent(5)` is true,
 * `percent(50)` is true too, so n labels have at most n + 1 combinations.
 */
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

/** Chooses the combination for a request. Hashes the trace id only if there are several combinations. */
export function chooseCombination(combinations: readonly OverrideCombination[], traceId: string): OverrideCombination {
  // `noLabels` is for the type only: the list is never empty.
  const first = combinations[0] ?? noLabels;
  if (combinations.length === 1) return first;
  const percentile = percentileOf(traceId);
  // Always found: the last `percentMax` is 100.
  return combinations.find(({ percentMax }) => percentile < percentMax) ?? first;
}

const hashBytesRead = 6;
/** The number of values of these bytes. */
const hashValues = 2 ** (8 * hashBytesRead);

/**
 * The percentile of a trace, from 0 up to but not including 100, evenly distributed. Equal for all requests of a trace, in every replica of the
 * gateway. The trace id is hashed, because clients choose trace ids, and samplers select traces by the digits of their ids.
 */
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

/** The labels of all fields that the operation selects, whatever the values of its conditions. */
function findLabels(
  { document, operation }: ValidatedOperation,
  apiSchema: GraphQLSchema,
  overrideLabels: OverrideOptions["overrideLabels"],
): ReadonlySet<string> {
  const labels = new Set<string>();
  const fragments = fragmentsOf(document);
  const reached = new Set<ExecutableDefinitionNode>([operation]);
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
  // The loop also visits the fragments that it adds to the set.
  for (const definition of reached) visit(definition, visitor);
  return labels;
}
