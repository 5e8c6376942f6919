// Compiles the `requires` of an entity fetch: which fields the representation of an object has. One list of fields per layout, created when stage 4
// finds the first object with that layout.
//
// `requires` is `... on Book { __typename isbn }`: for the layout of Book, the fields are the constant `"__typename":"Book"` and `"isbn":`, read from
// the object. For an object of another type there are none, so it is not requested.
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
 * Creates the functions of a `RepresentationPlan`. An object is requested only if its representation has a whole key: the planner may select the
 * required fields and the key under different type conditions, so an object may have the required fields alone.
 */
export function createRepresentationReaders(
  { serviceName, requires = [], inputRewrites = [] }: FetchNode,
  types: SupergraphTypes,
): Pick<RepresentationPlan, "fieldsOf" | "singleKeyOf"> {
  const hasWholeKey = (keys: ReadonlySet<string>, { typename }: ObjectLayout) =>
    types.containWholeKey(serviceName, typename, keys);
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

/** See RepresentationPlan. */
function findSingleKey(fields: readonly RepresentationField[] = []): SingleKey | undefined {
  const index = fields.findIndex(({ value }) => value.kind !== "constant");
  const value = fields[index]?.value;
  const before = fields.slice(0, index + 1);
  const after = fields.slice(index + 1);
  if (value?.kind !== "leaf" || after.some((field) => field.value.kind !== "constant")) return undefined;
  const { joinIndex, plainKey } = value.access;
  if (joinIndex !== noJoin || plainKey === undefined) return undefined;
  return {
    key: plainKey,
    textBefore: `{${before.map(({ text }) => text).join(",")}`,
    textAfter: `${after.map(({ text }) => `,${text}`).join("")}}`,
  };
}

/**
 * Creates the list of fields once for each layout, also for objects nested in a representation.
 * @param requires the fields that the subgraph needs, by planner keys.
 * @param rewrites set values and rename fields, the deepest first. The planner creates them for `@interfaceObject`, and ../rewrite/restore-plan.ts
 * for `@requires` with arguments.
 * @param isRequested whether objects with these fields are requested. Always true for nested objects.
 */
function createFieldsOf(
  requires: readonly QueryPlanSelectionNode[],
  rewrites: readonly FetchDataRewrite[],
  types: SupergraphTypes,
  isRequested: (keys: ReadonlySet<string>, layout: ObjectLayout) => boolean = () => true,
): RepresentationFieldsOf {
  const fieldsByLayout = new Map<ObjectLayout, readonly RepresentationField[] | undefined>();

  function createFields(layout: ObjectLayout): readonly RepresentationField[] | undefined {
    const applies = (typeCondition: string) => types.applies(typeCondition, layout.typename);
    const selected = collectRequired(requires, applies);
    const applicable = rewrites.flatMap((rewrite) => withoutFragments(rewrite, applies));
    const fields: RepresentationField[] = [];
    for (const [key, selections] of selected) {
      const field = createField(key, selections, applicable, layout, types);
      if (!field) return undefined;
      fields.push(field);
    }
    return fields.length > 0 && isRequested(new Set(selected.keys()), layout) ? fields : undefined;
  }

  return (layout) => {
    if (!fieldsByLayout.has(layout)) fieldsByLayout.set(layout, createFields(layout));
    return fieldsByLayout.get(layout);
  };
}

/** The required fields by planner key. */
function collectRequired(
  selections: readonly QueryPlanSelectionNode[],
  applies: (typeCondition: string) => boolean,
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

/** Removes the leading type conditions of a rewrite's path. Returns an empty list for a rewrite of another type. */
function withoutFragments(
  rewrite: FetchDataRewrite,
  applies: (typeCondition: string) => boolean,
): readonly FetchDataRewrite[] {
  const [first, ...rest] = rewrite.path;
  if (!first?.startsWith(fragmentPrefix)) return [rewrite];
  if (!applies(first.slice(fragmentPrefix.length))) return [];
  return withoutFragments({ ...rewrite, path: rest }, applies);
}

/** Undefined if no fetch provides the field. */
function createField(
  key: string,
  selections: readonly FieldSelection[],
  rewrites: readonly FetchDataRewrite[],
  layout: ObjectLayout,
  types: SupergraphTypes,
): RepresentationField | undefined {
  const ofField = rewrites.filter(({ path }) => path[0] === key);
  const renamer = ofField.findLast((rewrite) => rewrite.kind === "KeyRenamer" && rewrite.path.length === 1);
  const setter = ofField.findLast((rewrite) => rewrite.kind === "ValueSetter" && rewrite.path.length === 1);
  const text = `${JSON.stringify(renamer?.kind === "KeyRenamer" ? renamer.renameKeyTo : key)}:`;
  const constant =
    setter?.kind === "ValueSetter" ? setter.setValueTo : key === "__typename" ? layout.typename : undefined;
  if (constant !== undefined) return { text: text + JSON.stringify(constant), value: { kind: "constant" } };
  const value = createValue(key, selections, ofField, layout, types);
  return value && { text, value };
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
