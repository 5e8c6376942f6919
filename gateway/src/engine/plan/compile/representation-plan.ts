// Compiles the `requires` of an entity fetch, once per layout. For `... on Book { __typename isbn }`, a Book has the constant `"__typename":"Book"`
// and `"isbn":`, read from the object. An object of another type is not requested.
import type { FetchDataRewrite, FetchNode, QueryPlanSelectionNode } from "@apollo/query-planner";
import {
  type RepresentationFieldsOf,
  type ObjectLayout,
  noJoin,
  type RepresentationField,
  type RepresentationPlan,
  type SingleKey,
} from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

type FieldSelection = Extract<QueryPlanSelectionNode, { kind: "Field" }>;

const fragmentPrefix = "... on ";

/**
 * The planner may select the key under `... on Book` and another required field under `... on Media`: a DVD then has no key, and is not requested.
 */
export function compileRepresentationFields(
  { serviceName, requires = [], inputRewrites = [] }: FetchNode,
  types: SupergraphTypes,
): Pick<RepresentationPlan, "fieldsOf" | "singleKeyOf"> {
  // Without any field, no required field applies to the type.
  const hasWholeKey = (keys: ReadonlySet<string>, { typename }: ObjectLayout) =>
    keys.size > 0 && types.hasWholeKey(serviceName, typename, keys);
  const fieldsOf = createFieldsOf(requires, inputRewrites, types, hasWholeKey);
  const singleKeys = new Map<ObjectLayout, SingleKey | undefined>();
  return {
    fieldsOf,
    singleKeyOf(layout) {
      if (!singleKeys.has(layout)) singleKeys.set(layout, findSingleKey(fieldsOf(layout)));
      return singleKeys.get(layout);
    },
  };
}

/** @returns undefined unless exactly one field is no constant, and this is a leaf of the object itself. */
function findSingleKey(fields: readonly RepresentationField[] = []): SingleKey | undefined {
  // If all fields are constants, the index is -1, and `value` is undefined.
  const index = fields.findIndex((field) => field.value.kind !== "constant");
  const value = fields[index]?.value;
  if (value?.kind !== "leaf") return undefined;
  const fieldsToKey = fields.slice(0, index + 1);
  const fieldsAfterKey = fields.slice(index + 1);
  const isOnlyValue = fieldsAfterKey.every((field) => field.value.kind === "constant");
  if (!isOnlyValue) return undefined;
  const { joinIndex, plainKey } = value.access;
  if (joinIndex !== noJoin || plainKey === undefined) return undefined;
  return {
    key: plainKey,
    textBefore: `{${fieldsToKey.map(({ text }) => text).join(",")}`,
    textAfter: `${fieldsAfterKey.map(({ text }) => `,${text}`).join("")}}`,
  };
}

/** @param rewrites the deepest first; the last of several for one field counts (`@interfaceObject` and ../rewrite/restore-plan.ts). */
function createFieldsOf(
  requires: readonly QueryPlanSelectionNode[],
  rewrites: readonly FetchDataRewrite[],
  types: SupergraphTypes,
  isRequested: (keys: ReadonlySet<string>, layout: ObjectLayout) => boolean = () => true,
): RepresentationFieldsOf {
  const fieldsByLayout = new Map<ObjectLayout, readonly RepresentationField[] | undefined>();

  function createFields(layout: ObjectLayout): readonly RepresentationField[] | undefined {
    const applies = (typeCondition: string) => types.applies(typeCondition, layout.typename);
    const selected = Map.groupBy(listRequired(requires, applies), ({ alias, name }) => alias ?? name);
    const applicable = rewrites.flatMap((rewrite) => withoutLeadingFragments(rewrite, applies));
    const fields: RepresentationField[] = [];
    for (const [key, selections] of selected) {
      const field = createField(key, selections, applicable, layout, types);
      if (!field) return undefined;
      fields.push(field);
    }
    return isRequested(new Set(selected.keys()), layout) ? fields : undefined;
  }

  return (layout) => {
    if (!fieldsByLayout.has(layout)) fieldsByLayout.set(layout, createFields(layout));
    return fieldsByLayout.get(layout);
  };
}

function listRequired(
  selections: readonly QueryPlanSelectionNode[],
  applies: (typeCondition: string) => boolean,
): readonly FieldSelection[] {
  return selections.flatMap((selection) => {
    if (selection.kind === "Field") return [selection];
    const { typeCondition } = selection;
    const isApplicable = typeCondition === undefined || applies(typeCondition);
    return isApplicable ? listRequired(selection.selections, applies) : [];
  });
}

/** Empty if one of the leading type conditions does not apply. */
function withoutLeadingFragments(
  rewrite: FetchDataRewrite,
  applies: (typeCondition: string) => boolean,
): readonly FetchDataRewrite[] {
  const [first, ...rest] = rewrite.path;
  if (!first?.startsWith(fragmentPrefix)) return [rewrite];
  if (!applies(first.slice(fragmentPrefix.length))) return [];
  return withoutLeadingFragments({ ...rewrite, path: rest }, applies);
}

/** Undefined if no fetch provides the field. */
function createField(
  key: string,
  selections: readonly FieldSelection[],
  rewrites: readonly FetchDataRewrite[],
  layout: ObjectLayout,
  types: SupergraphTypes,
): RepresentationField | undefined {
  const fieldRewrites = rewrites.filter(({ path }) => path[0] === key);
  const ownRewrites = fieldRewrites.filter(({ path }) => path.length === 1);
  const renamer = ownRewrites.findLast((rewrite) => rewrite.kind === "KeyRenamer");
  const setter = ownRewrites.findLast((rewrite) => rewrite.kind === "ValueSetter");
  const text = `${JSON.stringify(renamer ? renamer.renameKeyTo : key)}:`;
  // The type of the layout is an interface if the type of its objects is not known.
  let constant: unknown = key === "__typename" ? layout.typename : undefined;
  if (setter) constant = setter.setValueTo;
  if (constant !== undefined) return { text: text + JSON.stringify(constant), value: { kind: "constant" } };
  const value = createValue(key, selections, fieldRewrites, layout, types);
  return value ? { text, value } : undefined;
}

function createValue(
  key: string,
  selections: readonly FieldSelection[],
  rewrites: readonly FetchDataRewrite[],
  layout: ObjectLayout,
  types: SupergraphTypes,
): RepresentationField["value"] | undefined {
  const access = layout.access(key);
  if (!access) return undefined;
  const subselections = selections.flatMap((selection) => selection.selections ?? []);
  if (subselections.length === 0) return { kind: "leaf", access };
  const deeperRewrites = rewrites
    .filter(({ path }) => path.length > 1)
    .map((rewrite) => ({ ...rewrite, path: rewrite.path.slice(1) }));
  return { kind: "object", access, fieldsOf: createFieldsOf(subselections, deeperRewrites, types) };
}
