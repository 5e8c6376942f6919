// Stage 3 of 5: how to answer? The places where objects of an answer stand. A plan's positions are made from the root downwards, each
// when the first object of its parent's type is met: what is never met costs nothing.
import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from "graphql";
import { createAccess } from "./access.ts";
import {
  type Access,
  type ClientField,
  type CompiledFetch,
  type Joins,
  type ObjectLayout,
  ownSlot,
  type Position,
} from "./compiled-plan.ts";
import { collectFields, type FieldsByKey, responseNameOf, selectionSetsOf } from "./fields.ts";
import { createOutputShapes } from "./output-shape.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** What of one fetch's text is about a position. */
interface Source {
  readonly slot: number;
  readonly service: string | undefined;
  readonly sets: readonly SelectionSetNode[];
}

interface PositionAbout {
  readonly path: readonly string[];
  readonly type: GraphQLCompositeType;
  /** The objects' own fields first, then those of fetches that are joined to them, in the plan's order. */
  readonly sources: readonly Source[];
  readonly clientSets: readonly SelectionSetNode[];
}

export interface PositionOptions {
  readonly types: SupergraphTypes;
  /** Types that clients see, by name. */
  readonly findVisibleType: (name: string) => GraphQLNamedType | undefined;
  readonly fetches: readonly CompiledFetch[];
  readonly isMerged: boolean;
  /** The planner key of a client's field. */
  readonly clientKeyOf: (field: FieldNode) => string;
  /** The planner key of a field in a fetch's text: its response name, unless the plan renames it. */
  readonly fetchKeyOf: (field: FieldNode) => string;
  /** What the schema says about itself is joined to the root like a fetch's data. */
  readonly introspection: { readonly slot: number; readonly set: SelectionSetNode } | undefined;
}

/** The position of the operation's root; all others are reached from it. */
export function createRootPosition(
  o: PositionOptions,
  type: GraphQLCompositeType,
  clientSets: readonly SelectionSetNode[],
): Position {
  const { introspection } = o;
  const schema = introspection ? [{ slot: introspection.slot, service: undefined, sets: [introspection.set] }] : [];
  return createPosition({ path: [], type, sources: [...sourcesAt(o, []), ...schema], clientSets }, o);
}

/** In a merged tree everything is an object's own. */
function sourcesAt({ fetches, isMerged }: PositionOptions, path: readonly string[]): readonly Source[] {
  return fetches
    .filter(({ paths }) => paths.some((at) => at.length === path.length && at.every((key, i) => key === path[i])))
    .map(({ slot, service, selected }) =>
      isMerged ? { slot: ownSlot, service: undefined, sets: [selected] } : { slot, service, sets: [selected] },
    );
}

function createPosition(about: PositionAbout, o: PositionOptions): Position {
  const layoutOf = isObjectType(about.type) ? createOneLayout(about.type.name, about, o) : createLayouts(about, o);
  return { layoutOf, toClientPath: (steps) => toClientPath(steps, about.clientSets, o) };
}

/** Where only one type can be. */
function createOneLayout(typename: string, about: PositionAbout, o: PositionOptions): Position["layoutOf"] {
  let layout: ObjectLayout | undefined;
  return ({ __typename: said }) => {
    if (said !== undefined && said !== typename) return undefined;
    return (layout ??= createLayout(typename, about, o));
  };
}

function createLayouts(about: PositionAbout, o: PositionOptions): Position["layoutOf"] {
  const layouts = new Map<string, ObjectLayout>();
  const readTypename = createTypenameReader(about, o);

  return (object, joins) => {
    const typename = readTypename(object, joins);
    if (typename === undefined) return undefined;
    const known = layouts.get(typename);
    if (known) return known;
    if (!o.types.applies(about.type.name, typename)) return undefined;
    const layout = createLayout(typename, about, o);
    layouts.set(typename, layout);
    return layout;
  };
}

type TypenameReader = (object: Readonly<Record<string, unknown>>, joins: Joins) => string | undefined;

/**
 * The type of an object. A subgraph that knows an interface as an object type (`@interfaceObject`) gives the interface's name; another
 * one's word counts more then. Undefined when the subgraph names something that is no type.
 */
function createTypenameReader(
  { type, sources }: PositionAbout,
  { types, fetchKeyOf }: PositionOptions,
): TypenameReader {
  const slots = sources
    .filter(({ sets }) => collectFields(sets, () => true, fetchKeyOf).has("__typename"))
    .map(({ slot }) => slot);
  const isConcrete = (typename: unknown) =>
    typeof typename === "string" && isObjectType(types.schema.getType(typename));
  return (object, joins) => {
    let last: unknown;
    for (const slot of slots) {
      const typename = (slot === ownSlot ? object : joins[slot]?.find(object))?.["__typename"];
      if (last === undefined || (slots.length > 1 && isConcrete(typename))) last = typename;
    }
    if (last === undefined) return type.name;
    return typeof last === "string" ? last : undefined;
  };
}

function createLayout(typename: string, about: PositionAbout, o: PositionOptions): ObjectLayout {
  const applies = (condition: string) => o.types.applies(condition, typename);
  const client = collectFields(about.clientSets, applies, o.clientKeyOf);
  const access = createAccessByKey(typename, about, client, o);
  const isVisible = o.findVisibleType(typename) !== undefined;
  let fields: readonly ClientField[] | undefined;

  function namesFrom({ selected }: CompiledFetch): readonly string[] {
    const provided = collectFields([selected], applies, o.fetchKeyOf);
    return [...client].flatMap(([key, [field]]) => (provided.has(key) && field ? responseNameOf(field) : []));
  }

  return {
    typename,
    isVisible,
    get fields() {
      return (fields ??= createClientFields(typename, about, access, o));
    },
    access,
    namesFrom,
  };
}

function createAccessByKey(typename: string, about: PositionAbout, client: FieldsByKey, o: PositionOptions) {
  const applies = (condition: string) => o.types.applies(condition, typename);
  const provided = about.sources.map(({ sets, ...source }) => ({
    ...source,
    fields: collectFields(sets, applies, o.fetchKeyOf),
  }));
  const known = new Map<string, Access | undefined>();

  function createAccessTo(key: string): Access | undefined {
    const providers = provided.flatMap(({ slot, service, fields }) => {
      const nodes = fields.get(key);
      // The plan's renames are applied to copies when answers are merged.
      const isRenamed = o.isMerged && slot === ownSlot;
      return nodes?.[0] ? [{ slot, service, nodes, key: isRenamed ? key : responseNameOf(nodes[0]) }] : [];
    });
    const [first, ...others] = providers;
    const field = first?.nodes[0];
    if (!first || !field) return undefined;
    const type = findFieldType(o.types, field.name.value, [typename, about.type.name]);
    if (!isCompositeType(type) || !field.selectionSet) {
      return createAccess(first, o.isMerged ? [] : others, undefined);
    }
    const path = [...about.path, key];
    const own = (o.isMerged ? providers : [first]).flatMap(({ nodes }) => selectionSetsOf(nodes));
    const sources = [{ slot: ownSlot, service: first.service, sets: own }, ...sourcesAt(o, path)];
    const clientSets = selectionSetsOf(client.get(key) ?? []);
    return createAccess(first, [], createPosition({ path, type, sources, clientSets }, o));
  }

  return (key: string): Access | undefined => {
    if (!known.has(key)) known.set(key, createAccessTo(key));
    return known.get(key);
  };
}

function findFieldType({ schema }: SupergraphTypes, name: string, typenames: readonly string[]) {
  for (const typename of typenames) {
    const type = schema.getType(typename);
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (field) return getNamedType(field.type);
  }
  return undefined;
}

function createClientFields(
  typename: string,
  about: PositionAbout,
  access: ObjectLayout["access"],
  o: PositionOptions,
): readonly ClientField[] {
  const applies = (condition: string) => o.types.applies(condition, typename);
  const shapeOf = createOutputShapes(typename, about.type.name, o);
  return [...collectFields(about.clientSets, applies, responseNameOf)].flatMap(([responseName, [field]], i) => {
    if (!field) return [];
    const isTypename = field.name.value === "__typename";
    // An interface's name is no answer: the object's own type has not been brought.
    const constant =
      isTypename && isObjectType(o.types.schema.getType(typename)) ? JSON.stringify(typename) : undefined;
    const read = isTypename ? undefined : access(o.clientKeyOf(field));
    return [
      {
        responseName,
        text: `${i > 0 ? "," : ""}${JSON.stringify(responseName)}:`,
        constant,
        access: read,
        shape: shapeOf(field, read),
      },
    ];
  });
}

function toClientPath(
  steps: readonly (string | number)[],
  clientSets: readonly SelectionSetNode[],
  { clientKeyOf }: PositionOptions,
): readonly (string | number)[] {
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
