import {
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  graphqlSync,
  isListType,
  getNullableType,
} from "graphql";
import type { ResultError, SubgraphOperation, SubgraphResult } from "../graphql-messages.ts";
import type { EntityKeys } from "../subgraph-schema.ts";
import { writeSeed } from "./leaf-values.ts";
import {
  createFromRepresentation,
  createValue,
  itemsMax,
  type MockContext,
  MockObject,
  type MockPlace,
} from "./mock-objects.ts";

export function createMockExecutor(
  schema: GraphQLSchema,
  keys: EntityKeys,
): (operation: SubgraphOperation) => SubgraphResult {
  const resolve = createMockResolver(schema, keys);
  return ({ query, variables, operationName }) => {
    const result = graphqlSync({
      schema,
      source: query,
      variableValues: variables ?? {},
      operationName: operationName ?? null,
      contextValue: { schema, keys, itemsLeft: itemsMax } satisfies MockContext,
      fieldResolver: resolve,
      typeResolver: (value) => (value as MockObject).type,
    });
    return { data: result.data ?? null, errors: (result.errors ?? []).map(toError) };
  };
}

type Values = Readonly<Record<string, unknown>>;

function createMockResolver(
  schema: GraphQLSchema,
  keys: EntityKeys,
): GraphQLFieldResolver<unknown, MockContext, Values> {
  return (source, args, context, info) => {
    if (info.fieldName === "_entities" && info.parentType === schema.getQueryType()) {
      const representations = args["representations"] as readonly unknown[];
      // `Object` makes a value that is not an object an object without a type: its entity is null.
      return representations.map((representation) => createFromRepresentation(Object(representation), context));
    }
    const parent = source instanceof MockObject ? source : new MockObject(info.parentType.name, info.parentType.name);
    const { first: _first, after: _after, last: _last, before: _before, ...filter } = args;
    const seed = `${parent.identity}.${info.fieldName}(${writeSeed(filter)})`;
    const place = { fieldName: info.fieldName, seed, args, context };
    if (info.parentType === schema.getMutationType()) return createPayload(place, info);
    const isGiven = Object.hasOwn(parent.given, info.fieldName);
    // A list in a mutation's payload contains errors or warnings, and a mock has none.
    if (parent.input && !isGiven && isListType(getNullableType(info.returnType))) return [];
    const given = isGiven ? parent.given[info.fieldName] : parent.input;
    return createValue(info.returnType, { ...place, given });
  };

  function createPayload(place: MockPlace, info: GraphQLResolveInfo) {
    const { input } = place.args;
    const given = (typeof input === "object" && input !== null ? input : place.args) as Values;
    const payload = createValue(info.returnType, { ...place, args: {}, given });
    if (!(payload instanceof MockObject) || keys.has(payload.type)) return payload;
    return new MockObject(payload.type, payload.identity, payload.given, given);
  }
}

function toError({ message, path, extensions }: GraphQLError): ResultError {
  const code = extensions?.["code"] ?? "GRAPHQL_VALIDATION_FAILED";
  return { message, path, extensions: { code } };
}
