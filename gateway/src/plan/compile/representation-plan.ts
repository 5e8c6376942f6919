// Stage 3 of 5: how to answer? What of an object goes into its representation: the `requires` of a fetch, read for each type.
import type { FetchDataRewrite, FetchNode, QueryPlanSelectionNode } from "@apollo/query-planner";
import {
  type FieldsOf,
  type ObjectLayout,
  ownSlot,
  type RepresentationField,
  type RepresentationPlan,
  type SingleKey,
} from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

type FieldSelection = Extract<QueryPlanSelectionNode, { kind: "Field" }>;

const fragmentPrefix = "... on ";

/**
 * What a service needs of an object. The planner may select by the object's type what is required, and by another type the key: an object
 * that has only the one cannot be found, and is not asked for.
 */
export function createRepresentationReaders(
  { serviceName, requires = [], inputRewrites = [] }: FetchNode,
  types: SupergraphTypes,
): Pick<RepresentationPlan, "fieldsOf" | "singleKeyOf"> {
  const fieldsOf = createFieldsOf(requires, inputRewrites, types, (keys, { typename }) =>
    types.holdKey(serviceName, typename, keys),
  );
  const singleKeys = new Map<ObjectLayout, SingleKey | undefined>();
  return {
    fieldsOf,
    singleKeyOf(layout) {
      if (!singleKeys.has(layout)) singleKeys.set(layout, findSingleKey(fieldsOf(layout)));
      return singleKeys.get(layout);
    },
  };
}

function findSingleKey(fields: readonly RepresentationField[] = []): SingleKey | undefined {
  const at = fields.findIndex(({ value }) => value.kind !== "constant");
  const value = fields[at]?.value;
  const before = fields.slice(0, at + 1);
  const after = fields.slice(at + 1);
  if (value?.kind !== "leaf" || after.some((field) => field.value.kind !== "constant")) return undefined;
  const { slot, plainKey } = value.access;
  if (slot !== ownSlot || plainKey === undefined) return undefined;
  return {
    key: plainKey,
    before: `{${before.map(({ text }) => text).join(",")}`,
    after: `${after.map(({ text }) => `,${text}`).join("")}}`,
  };
}

/**
 * @param requires what the subgraph needs of an object, by planner keys.
 * @param rewrites change single values or names of it, the deepest first (`@interfaceObject`, `@requires` with arguments).
 */
function createFieldsOf(
  requires: readonly QueryPlanSelectionNode[],
  rewrites: readonly FetchDataRewrite[],
  types: SupergraphTypes,
  isEnough: (keys: ReadonlySet<string>, layout: ObjectLayout) => boolean = () => true,
): FieldsOf {
  const known = new Map<ObjectLayout, readonly RepresentationField[] | undefined>();

  function createFields(layout: ObjectLayout): readonly RepresentationField[] | undefined {
    const applies = (condition: string) => types.applies(condition, layout.typename);
    const selected = collectRequired(requires, applies);
    const here = rewrites.flatMap((rewrite) => enterFragments(rewrite, applies));
    const fields: RepresentationField[] = [];
    for (const [key, selections] of selected) {
      const field = createField(key, selections, here, layout, types);
      if (!field) return undefined;
      fields.push(field);
    }
    return fields.length > 0 && isEnough(new Set(selected.keys()), layout) ? fields : undefined;
  }

  return (layout) => {
    if (!known.has(layout)) known.set(layout, createFields(layout));
    return known.get(layout);
  };
}

/** Fields by key, with what is required below each. */
function collectRequired(
  selections: readonly QueryPlanSelectionNode[],
  applies: (condition: string) => boolean,
  into = new Map<string, FieldSelection[]>(),
): ReadonlyMap<string, readonly FieldSelection[]> {
  for (const selection of selections) {
    if (selection.kind === "InlineFragment") {
      const { typeCondition } = selection;
      if (typeCondition === undefined || applies(typeCondition)) collectRequired(selection.selections, applies, into);
      continue;
    }
    const key = selection.alias ?? selection.name;
    into.set(key, [...(into.get(key) ?? []), selection]);
  }
  return into;
}

/** Takes the fragments off the front of a rewrite's path; nothing is left of a rewrite for another type. */
function enterFragments(
  rewrite: FetchDataRewrite,
  applies: (condition: string) => boolean,
): readonly FetchDataRewrite[] {
  const [first, ...rest] = rewrite.path;
  if (!first?.startsWith(fragmentPrefix)) return [rewrite];
  if (!applies(first.slice(fragmentPrefix.length))) return [];
  return enterFragments({ ...rewrite, path: rest }, applies);
}

function createField(
  key: string,
  selections: readonly FieldSelection[],
  rewrites: readonly FetchDataRewrite[],
  layout: ObjectLayout,
  types: SupergraphTypes,
): RepresentationField | undefined {
  const mine = rewrites.filter(({ path }) => path[0] === key);
  const name = mine.findLast((rewrite) => rewrite.kind === "KeyRenamer" && rewrite.path.length === 1);
  const setter = mine.findLast((rewrite) => rewrite.kind === "ValueSetter" && rewrite.path.length === 1);
  const text = `${JSON.stringify(name?.kind === "KeyRenamer" ? name.renameKeyTo : key)}:`;
  const constant =
    setter?.kind === "ValueSetter" ? setter.setValueTo : key === "__typename" ? layout.typename : undefined;
  if (constant !== undefined) return { text: text + JSON.stringify(constant), value: { kind: "constant" } };
  const value = createValue(key, selections, mine, layout, types);
  return value && { text, value };
}

function createValue(
  key: string,
  selections: readonly FieldSelection[],
  below: readonly FetchDataRewrite[],
  layout: ObjectLayout,
  types: SupergraphTypes,
): RepresentationField["value"] | undefined {
  const access = layout.access(key);
  if (!access) return undefined;
  const subselections = selections.flatMap((selection) => selection.selections ?? []);
  if (subselections.length === 0) return { kind: "leaf", access };
  const deeper = below
    .filter(({ path }) => path.length > 1)
    .map((rewrite) => ({ ...rewrite, path: rewrite.path.slice(1) }));
  return { kind: "object", access, of: createFieldsOf(subselections, deeper, types) };
}
