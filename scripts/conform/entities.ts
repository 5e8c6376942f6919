// The entities of a subgraph, and keys of some that exist, found by its own root fields.
import { type ConstDirectiveNode, type FieldDefinitionNode, Kind, parse, type TypeNode } from "graphql";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { memberOf } from "../../supergraph/contract/json-members.ts";
import { createExamples, firstUser } from "./examples.ts";
import type { Subject } from "./subject.ts";

interface Entity {
  readonly typeName: string;
  /** The selection of its key fields. */
  readonly key: string;
}

export interface KnownEntity extends Entity {
  /** Whether a root field returns it. Of another one, which another service owns, the service has fields for any id. */
  readonly isOwned: boolean;
  /** Of different entities, at least one. */
  readonly keys: readonly Json[];
  /** The user who can read them. */
  readonly as: number | undefined;
}

interface ObjectType {
  readonly fields: Map<string, FieldDefinitionNode>;
  readonly directives: ConstDirectiveNode[];
}

const inventedIds = ["1", "2"];
const keysMax = 3;

export function findEntities(subject: Subject): Promise<readonly KnownEntity[]> {
  return subject.remember("entities", async () => {
    const types = readObjectTypes(subject.sdl);
    const found: KnownEntity[] = [];
    for (const [typeName, { directives }] of types) {
      const key = directives.map(readKey).find((text) => text !== undefined);
      if (key === undefined) continue;
      const lists = findLists(types, { typeName, key });
      const known = lists.length > 0 ? await findKnown(subject, { typeName, key }, lists) : undefined;
      if (known) found.push(known);
      else if (lists.length === 0 && /^\w+$/.test(key))
        found.push({ typeName, key, isOwned: false, keys: inventedIds.map((id) => ({ [key]: id })), as: undefined });
    }
    return found;
  });
}

function readObjectTypes(sdl: string): ReadonlyMap<string, ObjectType> {
  const types = new Map<string, ObjectType>();
  for (const node of parse(sdl, { noLocation: true }).definitions) {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.OBJECT_TYPE_EXTENSION) continue;
    const type: ObjectType = types.get(node.name.value) ?? { fields: new Map(), directives: [] };
    for (const field of node.fields ?? []) type.fields.set(field.name.value, field);
    type.directives.push(...(node.directives ?? []));
    types.set(node.name.value, type);
  }
  return types;
}

function readKey({ name, arguments: given = [] }: ConstDirectiveNode): string | undefined {
  if (name.value !== "key" && name.value !== "federation__key") return undefined;
  const valueOf = (argument: string) => given.find((one) => one.name.value === argument)?.value;
  const resolvable = valueOf("resolvable");
  if (resolvable?.kind === Kind.BOOLEAN && !resolvable.value) return undefined;
  const fields = valueOf("fields");
  return fields?.kind === Kind.STRING ? fields.value : undefined;
}

/** The response names from the root to a list of entities, with its selection. */
type RootList = readonly string[];

/** Root fields without required arguments that return several of the type, also as a connection (Relay). */
function findLists(types: ReadonlyMap<string, ObjectType>, { typeName }: Entity): readonly RootList[] {
  const fieldsOf = (name: string) => [...(types.get(name)?.fields ?? [])];
  return fieldsOf("Query").flatMap(([name, { type, arguments: given = [] }]): readonly RootList[] => {
    const isRequired = given.some((one) => one.type.kind === Kind.NON_NULL_TYPE && one.defaultValue === undefined);
    const returned = nameOf(type);
    if (isRequired || name.startsWith("_")) return [];
    if (returned === typeName) return isList(type) ? [[name]] : [];
    const members = new Map(fieldsOf(returned).map(([member, field]) => [member, nameOf(field.type)]));
    if (members.get("nodes") === typeName) return [[name, "nodes"]];
    const edge = fieldsOf(members.get("edges") ?? "").find(([member]) => member === "node");
    return edge && nameOf(edge[1].type) === typeName ? [[name, "edges", "node"]] : [];
  });
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

function isList(type: TypeNode): boolean {
  return type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isList(type.type));
}

async function findKnown(
  subject: Subject,
  entity: Entity,
  lists: readonly RootList[],
): Promise<KnownEntity | undefined> {
  const find = async (as: number | undefined) => {
    for (const path of lists) {
      const query = path.reduceRight((selection, name) => `{ ${name} ${selection} }`, `{ ${entity.key} }`);
      const { json } = await subject.graphql(query, {}, { as });
      const keys = path
        .reduce(readAll, [memberOf(json, "data")])
        .filter(isJsonObject)
        .slice(0, keysMax);
      if (keys.length > 0) return { ...entity, isOwned: true, keys, as };
    }
    return undefined;
  };
  const callers = subject.issuer === undefined ? [undefined] : [undefined, firstUser];
  for (const as of callers) {
    const known = await find(as);
    if (known) return known;
  }
  // An empty database: the examples of the REST routes may create some.
  for (const as of [undefined, ...(await createExamples(subject))]) {
    const known = await find(as);
    if (known) return known;
  }
  return undefined;
}

/** The values of a member in all objects; of a list, its elements. */
function readAll(objects: readonly unknown[], name: string): readonly unknown[] {
  return objects.flatMap((object) => memberOf(object, name));
}
