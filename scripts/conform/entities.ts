// The entities of a subgraph, and keys of some that exist, found by its own root fields.
import {
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { memberOf } from "../../supergraph/contract/json-members.ts";
import { buildExecutableSchema, readKeyDirectives } from "../start/substitute/subgraph-schema.ts";
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

const inventedIds = ["1", "2"];
const keysMax = 3;

export function findEntities(subject: Subject): Promise<readonly KnownEntity[]> {
  return subject.remember("entities", async () => {
    const schema = buildExecutableSchema(subject.sdl);
    const keys = readKeyDirectives(subject.sdl);
    const found: KnownEntity[] = [];
    for (const { name: typeName } of Object.values(schema.getTypeMap()).filter(isObjectType)) {
      const key = keys.get(typeName)?.find(({ isResolvable }) => isResolvable)?.fields;
      if (key === undefined) continue;
      const lists = findLists(schema, typeName);
      const known = lists.length > 0 ? await findKnown(subject, { typeName, key }, lists) : undefined;
      if (known) found.push(known);
      else if (lists.length === 0 && /^\w+$/.test(key))
        found.push({ typeName, key, isOwned: false, keys: inventedIds.map((id) => ({ [key]: id })), as: undefined });
    }
    return found;
  });
}

/** The response names from the root to a list of entities, with its selection. */
type RootList = readonly string[];

/** Root fields without required arguments that return several of the type, also as a connection (Relay). */
function findLists(schema: GraphQLSchema, typeName: string): readonly RootList[] {
  const rootFields = Object.values(schema.getQueryType()?.getFields() ?? {});
  return rootFields.flatMap(({ name, type, args }): readonly RootList[] => {
    if (args.some(isRequiredArgument) || name.startsWith("_")) return [];
    if (getNamedType(type).name === typeName) return isListType(getNullableType(type)) ? [[name]] : [];
    const { nodes, edges } = fieldsOf(type);
    if (getNamedType(nodes?.type)?.name === typeName) return [[name, "nodes"]];
    const { node } = fieldsOf(edges?.type);
    return getNamedType(node?.type)?.name === typeName ? [[name, "edges", "node"]] : [];
  });
}

function fieldsOf(type: GraphQLOutputType | undefined): Partial<ReturnType<GraphQLObjectType["getFields"]>> {
  const named = getNamedType(type);
  return isObjectType(named) ? named.getFields() : {};
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
