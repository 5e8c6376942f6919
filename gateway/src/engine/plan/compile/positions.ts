// Creates the positions of a compiled plan (such as ["books", "author"] for all authors of `{ books { author { name } } }`) and the layouts of their
// objects: from which fetch each field is read. Both are created when the data first needs them: types and fields that do not occur cost nothing.
import {
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLType,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
} from "graphql";
import type { IntrospectionFields } from "../introspection/introspection-fields.ts";
import { collectFields, type FieldsByKey, responseNameOf, selectionSetsOf } from "../normalize/collect-fields.ts";
import { type ClientFieldOptions, createClientFields } from "./client-fields.ts";
import {
  type ClientField,
  type CompiledFetch,
  type FieldAccess,
  type DataJoins,
  noJoin,
  type ObjectLayout,
  type ResponsePosition,
} from "./compiled-plan.ts";
import { acceptsType, type FetchPath } from "./fetch-path.ts";
import { createFieldAccess, type FieldProvider } from "./field-access.ts";

export interface PositionOptions extends ClientFieldOptions {
  readonly fetches: readonly CompiledFetch[];
  /** In a merged plan, every field is read from the object itself. */
  readonly isMerged: boolean;
  /** Its response name, unless the plan renames the field. */
  readonly fetchKeyOf: (field: FieldNode) => string;
  readonly addRetainedBytes: (bytes: number) => void;
  readonly introspection: IntrospectionJoin | undefined;
}

/** For each object of the query type, the join finds one object with the values of all introspection fields, by the names from `findAlias`. */
interface IntrospectionJoin {
  readonly joinIndex: number;
  readonly findAlias: IntrospectionFields["findAlias"];
}

interface PositionStep {
  readonly key: string;
  /** Undefined at the last step: the position has objects of any of its types. */
  readonly typename: string | undefined;
}

interface PositionFacts {
  readonly path: readonly PositionStep[];
  readonly type: GraphQLCompositeType;
  readonly listDepth: number;
  /** Of objects without `__typename`: a subgraph declares the field with an object type, the supergraph with an interface or a union. */
  readonly onlyTypename?: string | undefined;
  /** First the fetches that provide the objects themselves (none at the root), then the fetches that are joined to the objects, in plan order. */
  readonly sources: readonly PositionSource[];
  readonly clientSets: readonly SelectionSetNode[];
}

interface PositionSource {
  /** `noJoin` if its data is the object itself. */
  readonly joinIndex: number;
  readonly service: string;
  readonly sets: readonly SelectionSetNode[];
}

interface SelectingFetch extends FieldProvider {
  readonly service: string;
  /** Where the fetch selects the field: at least once. */
  readonly nodes: readonly FieldNode[];
}

/** Estimated bytes of a layout, compared with measured heap sizes in `gateway/test/retention.test.ts`. */
const retainedBytes = { layout: 4_000, field: 700, character: 4 } as const;

export function createRootPosition(
  o: PositionOptions,
  type: GraphQLCompositeType,
  clientSets: readonly SelectionSetNode[],
): ResponsePosition {
  return createPosition({ path: [], type, listDepth: 0, sources: joinedSources(o, []), clientSets }, o);
}

/** In the plan's order; at the root, the fetches of root fields. In a merged plan, the objects themselves have the data of all fetches. */
function joinedSources(
  { fetches, isMerged }: PositionOptions,
  position: readonly PositionStep[],
): readonly PositionSource[] {
  const joined = fetches.filter(({ paths }) => paths.some((path) => leadsTo(path, position)));
  return joined.map(({ joinIndex, service, selected }) => ({
    joinIndex: isMerged ? noJoin : joinIndex,
    service,
    sets: [selected],
  }));
}

function leadsTo(path: FetchPath, position: readonly PositionStep[]): boolean {
  if (path.length !== position.length) return false;
  return path.every((step, i) => {
    const { key, typename } = position[i] as PositionStep;
    return step.key === key && (typename === undefined || acceptsType(step, typename));
  });
}

function createPosition(facts: PositionFacts, o: PositionOptions): ResponsePosition {
  const layoutOf = isObjectType(facts.type)
    ? createLayoutOfOneType(facts.type.name, facts, o)
    : createLayoutByTypename(facts, o);
  const { listDepth, clientSets } = facts;
  return { listDepth, layoutOf, toClientPath: (steps) => toClientPath(steps, clientSets, o) };
}

function createLayoutOfOneType(
  typename: string,
  facts: PositionFacts,
  o: PositionOptions,
): ResponsePosition["layoutOf"] {
  let layout: ObjectLayout | undefined;
  const { schema } = o.types;
  // A subgraph can have another name for it: composition renames root types.
  const isRoot = facts.type === schema.getQueryType() || facts.type === schema.getMutationType();
  return ({ __typename: actual }) => {
    if (actual !== undefined && actual !== typename && !isRoot) return undefined;
    layout ??= createLayout(typename, facts, o);
    return layout;
  };
}

function createLayoutByTypename(facts: PositionFacts, o: PositionOptions): ResponsePosition["layoutOf"] {
  const layouts = new Map<string, ObjectLayout>();
  const readTypename = createTypenameReader(facts, o);

  return (object, dataJoins) => {
    const typename = readTypename(object, dataJoins);
    if (typename === undefined) return undefined;
    const known = layouts.get(typename);
    if (known) return known;
    if (!o.types.applies(facts.type.name, typename)) return undefined;
    const layout = createLayout(typename, facts, o);
    layouts.set(typename, layout);
    return layout;
  };
}

type TypenameReader = (object: Readonly<Record<string, unknown>>, dataJoins: DataJoins) => string | undefined;

/**
 * The first `__typename` of an object's sources, or a later one that names an object type: a subgraph with an `@interfaceObject` returns the name of
 * the interface. Without one, `onlyTypename` or the type of the position. Undefined if it is no string.
 */
function createTypenameReader({ type, onlyTypename, sources }: PositionFacts, o: PositionOptions): TypenameReader {
  const joinIndexes = sources
    .filter(({ sets }) => collectFields(sets, () => true, o.fetchKeyOf).has("__typename"))
    .map(({ joinIndex }) => joinIndex);
  const hasSeveralSources = joinIndexes.length > 1;
  const isConcrete = (typename: unknown) => typeof typename === "string" && o.types.isObjectType(typename);
  return (object, dataJoins) => {
    let result: unknown;
    for (const joinIndex of joinIndexes) {
      const holder = joinIndex === noJoin ? object : dataJoins[joinIndex]?.find(object);
      const typename = holder?.["__typename"];
      if (result === undefined || (hasSeveralSources && isConcrete(typename))) result = typename;
    }
    if (result === undefined) return onlyTypename ?? type.name;
    return typeof result === "string" ? result : undefined;
  };
}

function createLayout(typename: string, facts: PositionFacts, o: PositionOptions): ObjectLayout {
  const applies = (typeCondition: string) => o.types.applies(typeCondition, typename);
  const clientFields = collectFields(facts.clientSets, applies, o.clientKeyOf);
  const access = createAccessByKey(typename, facts, clientFields, o);
  const characters = [...clientFields.keys()].reduce((sum, key) => sum + key.length, 0);
  o.addRetainedBytes(
    retainedBytes.layout + clientFields.size * retainedBytes.field + characters * retainedBytes.character,
  );
  let fields: readonly ClientField[] | undefined;
  const isTypeKnown = o.types.isObjectType(typename);
  // A fetch for another position can select another field with the same key.
  const mayProvide = (joinIndex: number, field: FieldAccess | undefined) =>
    o.isMerged || field?.plainKey === undefined || field.joinIndex === joinIndex;

  return {
    typename,
    isInApiSchema: o.findApiType(typename) !== undefined,
    get fields() {
      fields ??= createClientFields(typename, facts.type.name, facts.clientSets, access, o);
      return fields;
    },
    access,
    selects: (plannerKey) => !isTypeKnown || clientFields.has(plannerKey),
    responseNamesFrom({ selected, joinIndex }) {
      const provided = collectFields([selected], applies, o.fetchKeyOf);
      const names: string[] = [];
      for (const [key, [field]] of clientFields) {
        if (!field || !provided.has(key)) continue;
        const isTypename = field.name.value === "__typename";
        const isProvided = isTypename ? !isTypeKnown : mayProvide(joinIndex, access(key));
        if (isProvided) names.push(responseNameOf(field));
      }
      return names;
    },
  };
}

function createAccessByKey(
  typename: string,
  facts: PositionFacts,
  clientFields: FieldsByKey,
  o: PositionOptions,
): ObjectLayout["access"] {
  const applies = (typeCondition: string) => o.types.applies(typeCondition, typename);
  const sources = facts.sources.map(({ joinIndex, service, sets }) => ({
    joinIndex,
    service,
    fields: collectFields(sets, applies, o.fetchKeyOf),
  }));
  const accessByKey = new Map<string, FieldAccess | undefined>();
  const lastStep = facts.path.length - 1;

  function listSelectingFetches(key: string): readonly SelectingFetch[] {
    const selectingFetches: SelectingFetch[] = [];
    for (const { joinIndex, service, fields } of sources) {
      const nodes = fields.get(key) ?? [];
      const [field] = nodes;
      // In a merged plan, the data already has planner keys.
      if (field) selectingFetches.push({ joinIndex, service, nodes, key: o.isMerged ? key : responseNameOf(field) });
    }
    return selectingFetches;
  }

  function createAccess(key: string): FieldAccess | undefined {
    const selectingFetches = listSelectingFetches(key);
    const [first, ...others] = selectingFetches;
    const field = first?.nodes[0];
    if (!first || !field) return undefined;
    const provider: FieldProvider = {
      joinIndex: first.joinIndex,
      key: first.key,
      // In a merged plan it is not known which subgraph has provided a value.
      service: o.isMerged ? undefined : first.service,
    };
    // An object type can lack a field that its interface has from an `@interfaceObject`.
    const fieldName = field.name.value;
    const definition = o.types.findField(typename, fieldName) ?? o.types.findField(facts.type.name, fieldName);
    const fieldType = definition?.type;
    const type = getNamedType(fieldType);
    if (!isCompositeType(type) || !field.selectionSet) {
      return createFieldAccess(provider, o.isMerged ? [] : others, undefined);
    }
    const path = [
      ...facts.path.map((step, i) => (i === lastStep ? { ...step, typename } : step)),
      { key, typename: undefined },
    ];
    // Several fetches select a composite field of one object only in a merged plan (merge-detection.ts): the field's object has the data of all.
    const objectFetches = o.isMerged ? selectingFetches : [first];
    const objectSources = objectFetches.map(({ service, nodes }) => ({
      joinIndex: noJoin,
      service,
      sets: selectionSetsOf(nodes),
    }));
    const below: PositionFacts = {
      path,
      type,
      listDepth: countLists(fieldType),
      onlyTypename: objectSources
        .map(({ service }) => o.types.findDeclaredObjectType(service, typename, fieldName))
        .find((name) => name !== undefined),
      sources: [...objectSources, ...joinedSources(o, path)],
      clientSets: selectionSetsOf(clientFields.get(key) ?? []),
    };
    return createFieldAccess(provider, [], createPosition(below, o));
  }

  return (key) => {
    if (!accessByKey.has(key)) {
      const access = createIntrospectionAccess(key, typename, facts, o) ?? createAccess(key);
      accessByKey.set(key, access);
    }
    return accessByKey.get(key);
  };
}

/** Only the query type has introspection fields. */
function createIntrospectionAccess(
  key: string,
  typename: string,
  { path }: PositionFacts,
  { types, introspection }: PositionOptions,
): FieldAccess | undefined {
  if (!introspection || typename !== types.schema.getQueryType()?.name) return undefined;
  const alias = introspection.findAlias([...path.map((step) => step.key), key]);
  if (alias === undefined) return undefined;
  const provider: FieldProvider = { joinIndex: introspection.joinIndex, key: alias, service: undefined };
  return createFieldAccess(provider, [], undefined);
}

function countLists(type: GraphQLType | undefined): number {
  if (isNonNullType(type)) return countLists(type.ofType);
  return isListType(type) ? 1 + countLists(type.ofType) : 0;
}

function toClientPath(
  steps: readonly (string | number)[],
  clientSets: readonly SelectionSetNode[],
  { clientKeyOf }: PositionOptions,
): readonly (string | number)[] {
  const path: (string | number)[] = [];
  let sets = clientSets;
  for (const step of steps) {
    if (typeof step === "number") {
      const isValidIndex = step >= 0;
      if (!isValidIndex) break;
      path.push(step);
      continue;
    }
    const fields = collectFields(sets, () => true, clientKeyOf).get(step) ?? [];
    const [field] = fields;
    if (!field) break;
    path.push(responseNameOf(field));
    sets = selectionSetsOf(fields);
  }
  return path;
}
