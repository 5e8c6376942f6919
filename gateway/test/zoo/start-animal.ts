import { composeServices } from "@apollo/composition";
import { graphql, type GraphQLSchema, isObjectType, parse } from "graphql";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { type RunningSubgraph, startSubgraph } from "../helpers/subgraphs.ts";
import type { Animal, Expected, Monolith } from "./animal.ts";

export interface LiveAnimal {
  /** What clients see. */
  readonly schema: GraphQLSchema;
  /** What the gateway answers, with every error's path and code. */
  ask(operation: Operation): Promise<Expected>;
  /** What one schema without subgraphs answers. Its errors stand elsewhere, and are not told. */
  askMonolith(operation: Operation): Promise<unknown>;
  close(): Promise<void>;
}

export interface Operation {
  readonly query: string;
  readonly variables?: object;
}

/** Subgraphs over HTTP, a gateway before them, and the monolith beside them. */
export async function startAnimal(animal: Animal): Promise<LiveAnimal> {
  const subgraphs = await Promise.all(animal.subgraphs.map(startSubgraph));
  const closeSubgraphs = async () => void (await Promise.all(subgraphs.map((subgraph) => subgraph.close())));
  const composed = compose(subgraphs);
  if ("errors" in composed) {
    await closeSubgraphs();
    throw new AggregateError(composed.errors, `${animal.name} does not compose: ${composed.errors.join("\n")}`);
  }
  const { supergraphSdl, schema } = composed;
  const { reset } = animal;
  const gateway = await startGateway({ supergraphSdl, ...(reset && { reset }) });
  const monolith = resolveBy(schema, animal.monolith);
  return {
    schema,
    async ask(operation) {
      animal.reset?.();
      return askGateway(gateway, operation);
    },
    async askMonolith({ query, variables }) {
      animal.reset?.();
      const { data } = await graphql({ schema: monolith, source: query, variableValues: { ...variables } });
      return JSON.parse(JSON.stringify(data ?? null));
    },
    async close() {
      await gateway.drain();
      await closeSubgraphs();
    },
  };
}

async function askGateway(gateway: RunningGateway, { query, variables }: Operation): Promise<Expected> {
  const { body, text } = await gateway.ask(query, variables === undefined ? {} : { variables });
  if (body?.data === undefined) throw new Error(`The gateway refused ${query}: ${text}`);
  const errors = (body.errors ?? []) as { path?: []; extensions?: { code: string } }[];
  return {
    data: body.data,
    ...(errors.length > 0 && {
      errors: errors.map(({ path = [], extensions }) => ({ path, code: extensions?.code ?? "" })),
    }),
  };
}

function compose(subgraphs: readonly RunningSubgraph[]) {
  const services = subgraphs.map(({ name, url, typeDefs }) => ({ name, url, typeDefs: parse(typeDefs) }));
  const { supergraphSdl, schema, errors } = composeServices(services);
  if (supergraphSdl === undefined) return { errors };
  return { supergraphSdl, schema: schema.toAPISchema().toGraphQLJSSchema() };
}

/** Resolvers are put into the schema in place: graphql-js gives clients' eyes and the monolith the same one. */
function resolveBy(schema: GraphQLSchema, monolith: Monolith): GraphQLSchema {
  for (const [typeName, resolvers] of Object.entries(monolith)) {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) throw new Error(`The monolith has no object type ${typeName}`);
    for (const [name, resolve] of Object.entries(resolvers)) {
      const field = type.getFields()[name];
      if (!field) throw new Error(`The monolith has no field ${typeName}.${name}`);
      field.resolve = resolve as never;
    }
  }
  return schema;
}
