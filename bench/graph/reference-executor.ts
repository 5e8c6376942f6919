import { buildSchema, graphqlSync, type GraphQLFieldResolver, parse, print, visit } from "graphql";
import { findResolver } from "./resolvers.ts";
import { subgraphSdl } from "./schemas.ts";

export interface BenchmarkRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/**
 * Executes requests with graphql-js over the same data in one schema. gateway-workloads.ts compares it with the `data` of every contender, for
 * a sample of the requests (cells/check-responses.ts).
 * @throws Error if the result has errors.
 */
export function createReferenceExecutor(): (request: BenchmarkRequest) => unknown {
  const schema = buildSchema(mergeSdl());
  const fieldResolver: GraphQLFieldResolver<unknown, unknown> = (source, args, _context, info) => {
    const resolve = findResolver(info.parentType.name, info.fieldName);
    if (resolve) return resolve(source as never, args as never);
    return (source as Record<string, unknown> | undefined)?.[info.fieldName];
  };
  return ({ query, variables }) => {
    const { data, errors } = graphqlSync({ schema, source: query, variableValues: variables ?? {}, fieldResolver });
    if (errors) throw new Error(`The reference executor returned errors: ${errors.join("\n")}\n${query}`);
    // Copied, because the objects of graphql-js have no prototype, and `isDeepStrictEqual` compares prototypes.
    return JSON.parse(JSON.stringify(data));
  };
}

/** Merges the subgraphs into one schema: without `@external` fields and federation directives, with the `type Query` that the subgraphs extend. */
function mergeSdl(): string {
  const document = parse(Object.values(subgraphSdl).join("\n"));
  const documentWithoutFederation = visit(document, {
    FieldDefinition(field) {
      const isExternal = field.directives?.some(({ name }) => name.value === "external");
      return isExternal ? null : { ...field, directives: [] }; // `null` removes the field.
    },
    ObjectTypeExtension: (type) => ({ ...type, directives: [] }),
    ObjectTypeDefinition: (type) => ({ ...type, directives: [] }),
  });
  return `type Query\n${print(documentWithoutFederation)}`;
}
