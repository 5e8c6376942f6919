// Stage 3 of 5: how to answer? The places where objects of an answer stand. A plan's positions are made from the root downwards, each
// when the first object of its parent's type is met: what is never met costs nothing.
import {
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
} from "graphql";
import { toClientPath } from "./client-path.ts";
import { createAccess, type Provider } from "./field-access.ts";
import { createAsciiToken } from "./ascii-token.ts";
import {
  type Access,
  type ClientField,
  type CompiledFetch,
  type ObjectLayout,
  ownSlot,
  type Position,
} from "./compiled-plan.ts";
import { fetchesAt } from "./fetches-at.ts";
import { collectFields, type FieldsByKey, responseNameOf, selectionSetsOf } from "../normalize/collect-fields.ts";
import { createOutputShapes } from "./client-fields.ts";
import type { PositionAbout, PositionOptions, Source } from "./position-about.ts";
import { createTypenameReader } from "./position-typename.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** Estimated from measurements (retention.test.ts): what a layout, each of its fields and each character of their names take. */
const retainedBytes = { layout: 4_000, field: 700, character: 4 } as const;

/** The position of the operation's root; all others are reached from it. */
export function createRootPosition(
  o: PositionOptions,
  type: GraphQLCompositeType,
  clientSets: readonly SelectionSetNode[],
): Position {
  return createPosition({ path: [], type, listDepth: 0, sources: sourcesAt(o, []), clientSets }, o);
}

/** In a merged tree everything is an object's own. */
function sourcesAt({ fetches, isMerged }: PositionOptions, path: readonly string[]): readonly Source[] {
  return fetchesAt(fetches, path).map(({ slot, service, selected }) => ({
    slot: isMerged ? ownSlot : slot,
    service,
    sets: [selected],
  }));
}

function createPosition(about: PositionAbout, o: PositionOptions): Position {
  const layoutOf = isObjectType(about.type) ? createOneLayout(about.type.name, about, o) : createLayouts(about, o);
  const { listDepth, clientSets } = about;
  return { listDepth, layoutOf, toClientPath: (steps) => toClientPath(steps, clientSets, o) };
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

function createLayout(typename: string, about: PositionAbout, o: PositionOptions): ObjectLayout {
  const applies = (condition: string) => o.types.applies(condition, typename);
  const client = collectFields(about.clientSets, applies, o.clientKeyOf);
  const access = createAccessByKey(typename, about, client, o);
  const characters = [...client.keys()].reduce((sum, key) => sum + key.length, 0);
  o.retain(retainedBytes.layout + client.size * retainedBytes.field + characters * retainedBytes.character);
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
  // In a merged tree it cannot be said whose a value is.
  const toProvider = ({ service, ...one }: Provider): Provider => ({
    ...one,
    service: o.isMerged ? undefined : service,
  });

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
    const fieldType = findFieldType(o.types, field.name.value, [typename, about.type.name]);
    const type = getNamedType(fieldType);
    if (!isCompositeType(type) || !field.selectionSet) {
      return createAccess(toProvider(first), o.isMerged ? [] : others, undefined);
    }
    const path = [...about.path, key];
    const askers = o.isMerged ? providers : [first];
    const own = askers.map(({ service, nodes }) => ({ slot: ownSlot, service, sets: selectionSetsOf(nodes) }));
    const below: PositionAbout = {
      path,
      type,
      listDepth: countLists(fieldType),
      typename: findOnlyType(own, typename, field.name.value, o),
      sources: [...own, ...sourcesAt(o, path)],
      clientSets: selectionSetsOf(client.get(key) ?? []),
    };
    return createAccess(toProvider(first), [], createPosition(below, o));
  }

  return (key: string): Access | undefined => {
    if (!known.has(key)) known.set(key, createIntrospectionAccess(key, typename, about, o) ?? createAccessTo(key));
    return known.get(key);
  };
}

/** Undefined unless the key is an introspection field: the query type alone has them. */
function createIntrospectionAccess(
  key: string,
  typename: string,
  { path }: PositionAbout,
  { types, introspection }: PositionOptions,
): Access | undefined {
  if (!introspection || typename !== types.schema.getQueryType()?.name) return undefined;
  const alias = introspection.findAlias([...path, key]);
  return alias === undefined
    ? undefined
    : createAccess({ slot: introspection.slot, key: alias, service: undefined }, [], undefined);
}

function findOnlyType(sources: readonly Source[], typename: string, fieldName: string, { types }: PositionOptions) {
  for (const { service } of sources) {
    const name = types.findObjectType(service, typename, fieldName);
    if (name !== undefined) return name;
  }
  return undefined;
}

function findFieldType({ schema }: SupergraphTypes, name: string, typenames: readonly string[]) {
  for (const typename of typenames) {
    const type = schema.getType(typename);
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    if (field) return field.type;
  }
  return undefined;
}

function countLists(type: GraphQLType | undefined): number {
  if (isNonNullType(type)) return countLists(type.ofType);
  return isListType(type) ? 1 + countLists(type.ofType) : 0;
}

function createClientFields(
  typename: string,
  about: PositionAbout,
  access: ObjectLayout["access"],
  o: PositionOptions,
): readonly ClientField[] {
  const applies = (condition: string) => o.types.applies(condition, typename);
  const shapeOf = createOutputShapes(typename, about.type.name, o);
  const fields = [...collectFields(about.clientSets, applies, responseNameOf)].flatMap(([responseName, [field]], i) => {
    if (!field) return [];
    const isTypename = field.name.value === "__typename";
    // An interface's name is no answer: the object's own type has not been brought.
    const constant =
      isTypename && isObjectType(o.types.schema.getType(typename))
        ? createAsciiToken(JSON.stringify(typename))
        : undefined;
    const read = isTypename ? undefined : access(o.clientKeyOf(field));
    return [
      {
        responseName,
        before: createAsciiToken(`${i > 0 ? "," : "{"}${JSON.stringify(responseName)}:`),
        constant,
        access: read,
        shape: shapeOf(field, read),
      },
    ];
  });
  return o.types.isPartialMember(about.type.name, typename) ? withNulls(fields) : fields;
}

/**
 * The planner selects no fields of a union member that is missing in one of the subgraphs which could resolve the union. Its nullable
 * fields are null without an error, as with other gateways (public federation audit, suite `partial-union-complex`).
 */
function withNulls(fields: readonly ClientField[]): readonly ClientField[] {
  if (fields.some(({ access }) => access)) return fields;
  return fields.map((field) => (field.constant || field.shape.isNonNull ? field : { ...field, constant: nullToken }));
}

const nullToken = createAsciiToken("null");
