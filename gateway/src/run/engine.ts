// Stages 3 to 5 as they are today: stock Apollo Gateway plans, fetches through our data sources and joins; `say` writes.
// Our own executor takes this file's place; what stands around it stays.
import { createHash } from "node:crypto";
import { ApolloGateway } from "@apollo/gateway";
import {
  buildASTSchema,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse,
} from "graphql";
import { Refusal } from "../errors.ts";
import { createLibraryLogger, type Observe } from "../telemetry/observations.ts";
import { createDataSource } from "./data-source.ts";
import type { RequestScope } from "./request-scope.ts";
import type { SubgraphClient } from "./subgraph-client.ts";

/** An operation that parse has admitted, in one generation. Engines keep what they compile for it by identity. */
export interface AdmittedOperation {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface Engine {
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
  /**
   * Plans, fetches and writes. Rejects with a Refusal (such as OPERATION_TOO_COMPLEX) or with a bug.
   * @param variables as provided, already found acceptable.
   */
  execute(
    admitted: AdmittedOperation,
    variables: Readonly<Record<string, unknown>>,
    scope: RequestScope,
  ): Promise<EngineAnswer>;
  /** The query plan as JSON, for a developer who asks for it. An engine that cannot tell has no such method. */
  explain?(admitted: AdmittedOperation, variables: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): Promise<void>;
}

/** `body` is the whole JSON answer, `{"data":…}` with masked `errors` in it and no `extensions`. */
export interface EngineAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Told when the scope is timed. */
  readonly timings?: EngineTimings;
}

/** Where the time went, in milliseconds. */
export interface EngineTimings {
  readonly planMs: number;
  readonly runMs: number;
  readonly shapeMs: number;
}

/** What stock Apollo Gateway gives. */
export interface EngineResult {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly GraphQLError[];
  readonly extensions?: Record<string, unknown>;
}

export interface EngineOptions {
  readonly supergraphSdl: string;
  readonly clientOf: (service: string) => SubgraphClient;
  readonly observe: Observe;
  /** Stage 5: a result in the client's words. */
  readonly say: (result: EngineResult, scope: RequestScope) => EngineAnswer;
}

/**
 * Loads one supergraph. Blocks the event loop for 16 to 133 ms; the worker for that comes with our own executor.
 * @throws Error when the supergraph cannot be used.
 */
export async function createEngine({ supergraphSdl, clientOf, observe, say }: EngineOptions): Promise<Engine> {
  const schema = buildASTSchema(parse(supergraphSdl, { noLocation: true }), {
    assumeValid: true,
    assumeValidSDL: true,
  });
  const logger = createLibraryLogger(observe);
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => createDataSource({ client: clientOf(name), schema, observe }),
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    validateSupergraph: true,
    debug: false,
    __exposeQueryPlanExperimental: false,
    logger,
  });
  const { schema: apiSchema, executor } = await gateway.load();

  async function execute(
    { source, document, operation }: AdmittedOperation,
    variables: Readonly<Record<string, unknown>>,
    scope: RequestScope,
  ): Promise<EngineAnswer> {
    const operationName = operation.name?.value;
    const context = {
      request: { query: source, operationName, variables },
      document,
      operation,
      operationName,
      queryHash: createHash("sha256").update(source).digest("hex"),
      source,
      schema: apiSchema,
      context: { scope },
      logger,
      metrics: {},
    };
    // The gateway reads no more than this of what Apollo Server would hand over.
    const result = await executor(context as unknown as Parameters<typeof executor>[0]).catch(refuseTooComplex);
    return say(result, scope);
  }

  return { apiSchema, execute, close: () => gateway.stop() };
}

/** The planner's own limits, by its words: it has no codes. And the stack's, which a deep operation reaches first. */
const tooComplex = /maximum recursive selections|non-local selections exceeds|^Maximum call stack size exceeded$/;

function refuseTooComplex(cause: unknown): never {
  if (cause instanceof Error && tooComplex.test(cause.message)) throw new Refusal("OPERATION_TOO_COMPLEX");
  throw cause;
}
