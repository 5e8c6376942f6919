import { composeServices } from "@apollo/composition";
import { type ExecutionResult, graphql, type GraphQLError, type GraphQLSchema, isObjectType, parse } from "graphql";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { type RunningSubgraph, startSubgraph } from "../helpers/subgraphs.ts";
import type { SupergraphCase, ComparableResult, Monolith } from "./supergraph-case.ts";
import type { Operation } from "./operation.ts";
import { startStock } from "./stock.ts";

export interface RunningCase {
  /** The schema that clients see. */
  readonly schema: GraphQLSchema;
  /**
   * The gateway's response, with the path and code of every error. The fast path takes only operations that the full path has validated.
   * Rejects if the gateway sent a subgraph a document that is not valid against its schema.
   */
  sendToGateway(operation: Operation, requestPath: RequestPath): Promise<GatewayResult>;
  /** The result of one schema without subgraphs. */
  executeOnMonolith(operation: Operation): Promise<ComparableResult>;
  /** The control: the result of stock Apollo Gateway over the same subgraphs. */
  sendToStock(operation: Operation): Promise<ComparableResult>;
  close(): Promise<void>;
}

type RequestPath = "full" | "fast";

interface GatewayResult extends ComparableResult {
  /** The body. */
  readonly text: string;
  /** The path that the request took. */
  readonly path: RequestPath;
}

/** Starts the subgraphs over HTTP, the gateway, and the monolith. */
export async function startCase(supergraphCase: SupergraphCase): Promise<RunningCase> {
  const subgraphs = await Promise.all(supergraphCase.subgraphs.map(startSubgraph));
  const closeSubgraphs = async () => void (await Promise.all(subgraphs.map((subgraph) => subgraph.close())));
  const composed = compose(subgraphs);
  if ("errors" in composed) {
    await closeSubgraphs();
    throw new AggregateError(composed.errors, `${supergraphCase.name} does not compose: ${composed.errors.join("\n")}`);
  }
  const { supergraphSdl, schema } = composed;
  const reset = supergraphCase.reset ?? (() => undefined);
  const gateway = await startGateway({ supergraphSdl, reset });
  const monolith = resolveBy(schema, supergraphCase.monolith);
  const takeInvalidDocuments = () => subgraphs.flatMap(({ invalidDocuments }) => invalidDocuments.splice(0));
  let stock: ReturnType<typeof startStock> | undefined;
  return {
    schema,
    async sendToGateway(operation, requestPath) {
      reset();
      const result = await sendTo(gateway, operation, requestPath);
      const invalid = takeInvalidDocuments();
      if (invalid.length > 0) throw new Error(`The gateway sent an invalid document. ${invalid.join("\n")}`);
      return result;
    },
    async executeOnMonolith({ query, variables, operationName }) {
      reset();
      const about = { source: query, variableValues: { ...variables }, operationName: operationName ?? null };
      return toComparable(await graphql({ schema: monolith, ...about }));
    },
    async sendToStock(operation) {
      stock ??= startStock(supergraphSdl);
      const { execute } = stock;
      reset();
      const result = toComparable(await execute(operation));
      takeInvalidDocuments();
      return result;
    },
    async close() {
      await stock?.stop();
      await gateway.drain();
      await closeSubgraphs();
    },
  };
}

/** The fast path takes no URL with a query string, so these requests take the full path even for stored operations. */
const urls: Readonly<Record<RequestPath, string>> = { full: "/graphql?path=full", fast: "/graphql" };

async function sendTo(gateway: RunningGateway, operation: Operation, requestPath: RequestPath): Promise<GatewayResult> {
  const { query, ...more } = operation;
  const { body, text } = await gateway.send(query, { ...more, path: urls[requestPath] });
  if (body?.data === undefined) throw new Error(`The gateway rejected ${query}: ${text}`);
  return { ...toComparable(body), text, path: gateway.tookFastPath() ? "fast" : "full" };
}

/** As JSON: the objects of graphql-js have no prototype. */
function toComparable({ data = null, errors = [] }: Pick<ExecutionResult, "data" | "errors">): ComparableResult {
  return {
    data: JSON.parse(JSON.stringify(data)),
    ...(errors.length > 0 && { errors: errors.map(toComparableError) }),
  };
}

function toComparableError({ path = [], extensions }: Pick<GraphQLError, "path" | "extensions">) {
  const code = extensions?.["code"];
  return { path, code: typeof code === "string" ? code : "" };
}

function compose(subgraphs: readonly RunningSubgraph[]) {
  const services = subgraphs.map(({ name, url, typeDefs }) => ({ name, url, typeDefs: parse(typeDefs) }));
  const { supergraphSdl, schema, errors } = composeServices(services);
  if (supergraphSdl === undefined) return { errors };
  return { supergraphSdl, schema: schema.toAPISchema().toGraphQLJSSchema() };
}

/** Changes the schema in place. */
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
