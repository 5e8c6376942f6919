import { composeServices } from "@apollo/composition";
import { type ExecutionResult, graphql, type GraphQLError, type GraphQLSchema, isObjectType, parse } from "graphql";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { type RunningSubgraph, startSubgraph } from "../helpers/subgraphs.ts";
import type { Animal, Expected, Monolith } from "./supergraph-case.ts";
import type { Operation } from "./operation.ts";
import { startStock } from "./stock.ts";

export interface LiveAnimal {
  /** What clients see. */
  readonly schema: GraphQLSchema;
  /**
   * The gateway's response, with every error's path and code. The fast lane knows only operations that the full lane has admitted.
   * Rejects if the gateway sent a document that is not valid against the schema of the subgraph that received it.
   */
  ask(operation: Operation, lane: Lane): Promise<GatewayAnswer>;
  /** What one schema without subgraphs answers. */
  askMonolith(operation: Operation): Promise<Expected>;
  /** What Apollo Gateway answers as it comes, before the same subgraphs: the control. */
  askStock(operation: Operation): Promise<Expected>;
  close(): Promise<void>;
}

type Lane = "full" | "fast";

interface GatewayAnswer extends Expected {
  /** The body. */
  readonly text: string;
  /** The lane that it came by. */
  readonly lane: Lane;
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
  const reset = animal.reset ?? (() => undefined);
  const gateway = await startGateway({ supergraphSdl, reset });
  const monolith = resolveBy(schema, animal.monolith);
  const takeInvalidDocuments = () => subgraphs.flatMap(({ invalidDocuments }) => invalidDocuments.splice(0));
  let stock: ReturnType<typeof startStock> | undefined;
  return {
    schema,
    async ask(operation, lane) {
      reset();
      const answer = await askGateway(gateway, operation, lane);
      const invalid = takeInvalidDocuments();
      if (invalid.length > 0) throw new Error(`The gateway sent an invalid document. ${invalid.join("\n")}`);
      return answer;
    },
    async askMonolith({ query, variables, operationName }) {
      reset();
      const about = { source: query, variableValues: { ...variables }, operationName: operationName ?? null };
      return toExpected(await graphql({ schema: monolith, ...about }));
    },
    async askStock(operation) {
      stock ??= startStock(supergraphSdl);
      const { ask } = await stock;
      reset();
      const answer = toExpected(await ask(operation));
      takeInvalidDocuments();
      return answer;
    },
    async close() {
      await (await stock)?.stop();
      await gateway.drain();
      await closeSubgraphs();
    },
  };
}

/** The fast lane takes no request with a search: so the full lane answers what the fast lane knows already, too. */
const paths: Readonly<Record<Lane, string>> = { full: "/graphql?lane=full", fast: "/graphql" };

async function askGateway(gateway: RunningGateway, operation: Operation, lane: Lane): Promise<GatewayAnswer> {
  const { query, ...more } = operation;
  const { body, text } = await gateway.ask(query, { ...more, path: paths[lane] });
  if (body?.data === undefined) throw new Error(`The gateway refused ${query}: ${text}`);
  return { ...toExpected(body), text, lane: gateway.tookFastLane() ? "fast" : "full" };
}

/** As JSON has it: graphql-js gives objects without a prototype. */
function toExpected({ data = null, errors = [] }: Pick<ExecutionResult, "data" | "errors">): Expected {
  return { data: JSON.parse(JSON.stringify(data)), ...(errors.length > 0 && { errors: errors.map(toExpectedError) }) };
}

function toExpectedError({ path = [], extensions }: Pick<GraphQLError, "path" | "extensions">) {
  const code = extensions?.["code"];
  return { path, code: typeof code === "string" ? code : "" };
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
