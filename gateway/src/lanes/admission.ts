// Apollo Server as the doorkeeper of documents, for one generation. It executes and writes nothing: once an operation is admitted, the
// pipeline goes on from inside its executor, and the answer goes past it, by the side channel of the request's context.
import { ApolloServer, type ApolloServerPlugin, HeaderMap } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import { type DocumentNode, GraphQLError, type GraphQLSchema } from "graphql";
import type { AnswerType } from "../admit/negotiation.ts";
import { Refusal } from "../errors.ts";
import { type BoundedMap, createBoundedMap } from "../parse/bounded-map.ts";
import { createDocumentCheck } from "../parse/document-check.ts";
import type { GraphqlRequest } from "../parse/graphql-request.ts";
import type { OperationLimits } from "../parse/limits.ts";
import { requireOperation } from "../parse/operation.ts";
import type { AdmittedOperation } from "../parse/admitted-operation.ts";
import { maskError } from "../shape/mask.ts";
import { contentTypeOf, statusFor } from "../shape/refuse.ts";
import type { Answer } from "../shape/write.ts";
import { createLibraryLogger, type Observe } from "../telemetry/observations.ts";
import { documentWeight, type Operations } from "./operations.ts";

/** What is asked of the doorkeeper. */
export interface Question {
  readonly method: "GET" | "POST";
  readonly answerType: AnswerType;
  readonly graphql: GraphqlRequest;
}

type Proceed = (admitted: AdmittedOperation) => Promise<Answer>;

/** Limits, syntax, validation, automatic persisted queries, the operation. */
export interface Admission {
  /**
   * @param proceed answers an operation that is admitted. What is refused does not come to it.
   * @throws Refusal
   */
  admit(question: Question, proceed: Proceed): Promise<Answer>;
  /** Whether a plugin wants to see each request: then none may go past Apollo Server. */
  readonly isWatched: boolean;
  close(): Promise<void>;
}

export interface AdmissionOptions {
  readonly apiSchema: GraphQLSchema;
  readonly operations: Operations;
  readonly introspection: boolean;
  readonly documentTokensMax: number;
  readonly operationLimits: OperationLimits;
  /** By hash. Shared by all generations: it holds texts, which are validated anew. */
  readonly persistedQueries: BoundedMap<string>;
  /** Hooks see what happens; what they change of an answer is not sent. */
  readonly plugins: readonly ApolloServerPlugin[];
  readonly documentsMax: number;
  readonly documentsBytesMax: number;
  readonly observe: Observe;
}

/** What belongs to one request in Apollo Server. */
interface Context {
  readonly proceed: Proceed;
  /** Filled by the executor. */
  readonly channel: { answer?: Answer; refusal?: Refusal };
}

type Server = ApolloServer<Context>;
type GatewayOption = NonNullable<ConstructorParameters<typeof ApolloServer<Context>>[0]["gateway"]>;
type Executor = NonNullable<Awaited<ReturnType<GatewayOption["load"]>>["executor"]>;

export async function createAdmission(o: AdmissionOptions): Promise<Admission> {
  const server = createServer(o);
  await server.start();
  const checkDocument = createDocumentCheck({ ...o, limits: o.operationLimits });

  async function admit({ method, answerType, graphql }: Question, proceed: Proceed): Promise<Answer> {
    // A persisted query that comes by its hash alone was checked when it came with its text.
    const excess = graphql.query === undefined ? undefined : checkDocument(graphql.query);
    if (excess) throw new Refusal(excess.code, excess.message);
    const channel: Context["channel"] = {};
    const { http, body } = await askServer(server, method, graphql, { proceed, channel });
    if (channel.refusal) throw channel.refusal;
    if (channel.answer) return channel.answer;
    if (http.status === 405) throw new Refusal("METHOD_NOT_ALLOWED", "Mutations go by POST.", { Allow: "POST" });
    if (body.kind !== "single") throw new Error("An answer in parts was not asked for");
    return {
      status: statusFor(http.status ?? 200, answerType),
      contentType: contentTypeOf(answerType),
      body: Buffer.from(JSON.stringify({ errors: body.singleResult.errors })),
    };
  }

  return { admit, isWatched: o.plugins.some(watches), close: () => server.stop() };
}

/** Made anew from what was read and checked: nothing else of the client's request reaches Apollo Server. */
function askServer(
  server: Server,
  method: Question["method"],
  { query, operationName, variables, extensions }: GraphqlRequest,
  contextValue: Context,
) {
  const http = { method, headers: new HeaderMap(), search: "", body: undefined };
  const request = {
    http,
    ...(query === undefined ? {} : { query }),
    ...(operationName === undefined ? {} : { operationName }),
    ...(variables === undefined ? {} : { variables }),
    ...(extensions === undefined ? {} : { extensions }),
  };
  return server.executeOperation(request, { contextValue });
}

function createServer(o: AdmissionOptions): Server {
  return new ApolloServer<Context>({
    gateway: toGateway(o),
    introspection: o.introspection,
    hideSchemaDetailsFromClientErrors: !o.introspection,
    parseOptions: { maxTokens: o.documentTokensMax },
    maxRecursiveSelections: o.operationLimits.selectionsMax,
    documentStore: createDocumentStore(o),
    persistedQueries: { cache: toKeyValueCache(o.persistedQueries), ttl: null },
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    nodeEnv: "production",
    logger: createLibraryLogger(o.observe),
    formatError: (formatted, error) => maskError(formatted, error, (cause) => observeBug(o.observe, cause)),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ...o.plugins,
    ],
  });
}

/** The generation in the shape that Apollo Server takes. It never changes its schema. */
function toGateway(o: AdmissionOptions): GatewayOption {
  let tell: Parameters<GatewayOption["onSchemaLoadOrUpdate"]>[0] = () => {};
  return {
    onSchemaLoadOrUpdate(callback) {
      tell = callback;
      return () => {};
    },
    load() {
      tell({ apiSchema: o.apiSchema, coreSupergraphSdl: "" });
      return Promise.resolve({ executor: createExecutor(o) });
    },
    stop: () => Promise.resolve(),
  };
}

const marker = { data: null };

function createExecutor({ apiSchema, operations }: AdmissionOptions): Executor {
  return async ({ context, request: { operationName }, source, document, operation }) => {
    const { proceed, channel } = context as Context;
    try {
      const found = requireOperation(apiSchema, operation, operationName);
      channel.answer = await proceed(operations.admit({ source, operationName, document, operation: found }));
      return marker;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      channel.refusal = error;
      return { errors: [new GraphQLError(error.message, { extensions: { code: error.code } })] };
    }
  };
}

function createDocumentStore({ documentsMax, documentsBytesMax }: AdmissionOptions) {
  const documents = createBoundedMap<DocumentNode>({ entriesMax: documentsMax, weightMax: documentsBytesMax });
  return toKeyValueCache(documents, (document) => documentWeight(document.loc?.source.body ?? ""));
}

/** Apollo Server puts a prefix before its keys, for caches that it shares with others. */
function toKeyValueCache<Value>(
  map: BoundedMap<Value>,
  weigh: (value: Value) => number = (value) => String(value).length,
) {
  const bare = (key: string) => key.slice(key.indexOf(":") + 1);
  return {
    get: (key: string) => Promise.resolve(map.get(bare(key))),
    set: (key: string, value: Value) => Promise.resolve(map.set(bare(key), value, weigh(value))),
    delete: (key: string) => Promise.resolve(map.delete(bare(key))),
  };
}

function watches(plugin: ApolloServerPlugin): boolean {
  return plugin.requestDidStart !== undefined || plugin.unexpectedErrorProcessingRequest !== undefined;
}

function observeBug(observe: Observe, cause: unknown): void {
  const original = cause instanceof GraphQLError ? cause.originalError : undefined;
  observe({ kind: "internal-error", requestId: undefined, cause: original ?? cause });
}
