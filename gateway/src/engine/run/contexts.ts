// Stage 4 of 5: run. Divides the objects of an entity fetch by the values of its contextual arguments (`@fromContext`): the objects of equal values
// have one `_entities` field.
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import type { CompiledFetch, ContextArgument, DataJoins } from "../plan/compile/compiled-plan.ts";
import { type RepresentationSet, writeRepresentationsOf } from "./representations.ts";
import { type ResponseTree, type TypedObject, visitTargetsFromRoot } from "./targets.ts";

export interface ObjectsByContext {
  /** One for each argument. */
  readonly values: readonly unknown[];
  readonly representations: RepresentationSet;
}

/** A document grows with the contexts, and subgraphs limit documents: further contexts are sent in further requests. */
const contextsPerRequestMax = 16;

/** For each request, the contexts. An object of which a value has not arrived is left out, as without a required field. */
export function divideByContext(
  tree: ResponseTree,
  { paths, contextArguments, representationPlan: plan }: CompiledFetch,
): readonly (readonly ObjectsByContext[])[] {
  if (!plan) return [];
  const divided = new Map<string, { readonly values: readonly unknown[]; readonly objects: TypedObject[] }>();
  visitTargetsFromRoot(tree, paths, (objects) => {
    const target = objects.at(-1);
    const values = contextArguments.map((argument) => readValue(argument, objects, tree.dataJoins));
    if (!target || values.includes(undefined)) return;
    const key = stringifyDeepJson(values);
    const known = divided.get(key);
    if (known) known.objects.push(target);
    else divided.set(key, { values, objects: [target] });
  });
  const contexts = Array.from(divided.values(), ({ values, objects }) => ({
    values,
    representations: writeRepresentationsOf(objects, tree.dataJoins, plan),
  }));
  const requestCount = Math.ceil(contexts.length / contextsPerRequestMax);
  return Array.from({ length: requestCount }, (_, i) =>
    contexts.slice(i * contextsPerRequestMax, (i + 1) * contextsPerRequestMax),
  );
}

function readValue({ sources }: ContextArgument, objects: readonly TypedObject[], dataJoins: DataJoins): unknown {
  for (const { level, read } of sources) {
    const holder = objects.at(-1 - level);
    const value = holder && read(holder.object, holder.layout, dataJoins);
    if (value !== undefined) return value;
  }
  return undefined;
}
