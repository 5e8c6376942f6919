// Apollo Server as the doorkeeper of documents, for one generation. It executes and writes nothing: once an operation is admitted, the
// pipeline goes on from inside its last hook, and the answer goes past it, by the side channel of the request's context.
import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequest,
  type GraphQLRequestListener,
  type GraphQLResponse,
  HeaderMap,
} from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
} from "graphql";
import type { AnswerType } from "../admit/negotiation.ts";
import { isClientCode, Refusal } from "../errors/codes.ts";
import type { BoundedMap } from "@tributary/kit/collections/bounded-map";
import { checkDocument } from "../parse/document-check.ts";
import { findSource, type GraphqlRequest } from "../parse/graphql-request.ts";
import type { OperationLimits } from "../parse/limits.ts";
import { NumericLiteralsRule } from "../parse/numeric-input.ts";
import { createTurns } from "../parse/event-loop-queue.ts";
import { requireOperation } from "../parse/operation.ts";
import type { AdmittedOperation } from "../parse/validated-operation.ts";
import { maskError } from "../errors/masking.ts";
import { contentTypeOf, statusFor } from "../errors/rejections.ts";
import type { Answer } from "../shape/send-response.ts";
import { createLibraryLogger, type Observe } from "../telemetry/observation-log.ts";
import type { Operations } from "../parse/operation-store.ts";

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
  readonly observe: Observe;
}

/** What belongs to one request in Apollo Server. */
interface Context {
  readonly proceed: Proceed;
  /** As it was measured; undefined when it is known, or no GraphQL. */
  readonly checked: DocumentNode | undefined;
  /** Filled once Apollo Server has nothing against the document. */
  readonly channel: { answer?: Answer; error?: unknown };
}

type Server = ApolloServer<Context>;

export async function createAdmission(o: AdmissionOptions): Promise<Admission> {
  const server = createServer(o);
  await server.start();
  const takeTurn = createTurns();

  /** Undefined for a known document. @throws Refusal for one beyond a limit. */
  async function checkNew(source: string | undefined): Promise<DocumentNode | undefined> {
    if (source === undefined || o.operations.has(source)) return undefined;
    await takeTurn();
    // Another request may have brought it meanwhile.
    if (o.operations.has(source)) return undefined;
    const { document, excess } = checkDocument(source, { ...o, limits: o.operationLimits });
    if (excess) throw new Refusal(excess.code, excess.message);
    return document;
  }

  async function admit({ method, answerType, graphql }: Question, proceed: Proceed): Promise<Answer> {
    const checked = await checkNew(findSource(graphql, o.persistedQueries));
    const channel: Context["channel"] = {};
    // Validation and what comes after it: each in a turn of its own.
    const proceedLater = (admitted: AdmittedOperation) => takeTurn().then(() => proceed(admitted));
    const context = { proceed: checked ? proceedLater : proceed, checked, channel };
    const { http, body } = await askServer(server, method, graphql, context);
    if (channel.answer) return channel.answer;
    if (channel.error !== undefined) throw channel.error;
    if (http.status === 405) throw new Refusal("METHOD_NOT_ALLOWED", "Mutations go by POST.", { Allow: "POST" });
    if (body.kind !== "single") throw new Error("An answer in parts was not asked for");
    return {
      status: statusFor(http.status ?? 200, answerType),
      contentType: contentTypeOf(answerType),
      body: Buffer.from(JSON.stringify({ errors: body.singleResult.errors })),
      // As `formatError` has masked them.
      told: { outcome: "refused", codes: (body.singleResult.errors ?? []).map(readCode) },
    };
  }

  return { admit, isWatched: o.plugins.some(watches), close: () => server.stop() };
}

function readCode({ extensions }: GraphQLFormattedError): string {
  const code = extensions?.["code"];
  return isClientCode(code) ? code : "INTERNAL_SERVER_ERROR";
}

/** Made anew from what was read and checked: nothing else of the client's request reaches Apollo Server. */
function askServer(
  server: Server,
  method: Question["method"],
  { query, operationName, variables, extensions }: GraphqlRequest,
  contextValue: Context,
) {
  const http = { method, headers: new HeaderMap(), search: "", body: undefined };
  // Its types want a member to be absent, its code takes undefined.
  const request = { http, query, operationName, variables, extensions } as GraphQLRequest;
  return server.executeOperation(request, { contextValue });
}

function createServer(o: AdmissionOptions): Server {
  return new ApolloServer<Context>({
    schema: o.apiSchema,
    introspection: o.introspection,
    hideSchemaDetailsFromClientErrors: !o.introspection,
    parseOptions: { maxTokens: o.documentTokensMax },
    validationRules: [NumericLiteralsRule],
    maxRecursiveSelections: o.operationLimits.selectionsMax,
    documentStore: toDocumentStore(o.operations),
    persistedQueries: { cache: toPersistedQueryCache(o.persistedQueries), ttl: null },
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
      createProceedPlugin(o),
    ],
  });
}

/**
 * Answers in Apollo Server's place. An executor of a `gateway` would be asked with a context that has an accessor in a literal, see
 * request-scope.ts: this way the full lane takes 60 µs for `{__typename}` instead of 139.
 */
function createProceedPlugin({ apiSchema, operations }: AdmissionOptions): ApolloServerPlugin<Context> {
  const head = { headers: new HeaderMap() };
  const nothing: GraphQLResponse = { http: head, body: { kind: "single", singleResult: {} } };
  const listener: GraphQLRequestListener<Context> = {
    async responseForOperation({ contextValue, request, source, queryHash: hash = "", ...context }) {
      const { proceed, checked, channel } = contextValue;
      const { operationName } = request;
      const document = checked ?? context.document;
      try {
        const operation = requireOperation(apiSchema, getOperationAST(document, operationName), operationName);
        channel.answer = await proceed(operations.admit({ source, hash, operationName, document, operation }));
      } catch (error) {
        channel.error = error;
      }
      return nothing;
    },
  };
  return { requestDidStart: () => Promise.resolve(listener) };
}

/** A document that is found there is neither parsed nor validated. It is put there when one of its operations is admitted, without locations. */
function toDocumentStore({ findDocument }: Operations) {
  return {
    get: (key: string) => Promise.resolve(findDocument(withoutPrefix(key))),
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(false),
  };
}

function toPersistedQueryCache(texts: BoundedMap<string>) {
  return {
    get: (key: string) => Promise.resolve(texts.get(withoutPrefix(key))),
    set: (key: string, text: string) => Promise.resolve(void texts.set(withoutPrefix(key), text, text.length)),
    delete: (key: string) => Promise.resolve(texts.delete(withoutPrefix(key))),
  };
}

/** Apollo Server puts a prefix before its keys, for caches that it shares with others. */
function withoutPrefix(key: string): string {
  return key.slice(key.indexOf(":") + 1);
}

function watches(plugin: ApolloServerPlugin): boolean {
  return plugin.requestDidStart !== undefined || plugin.unexpectedErrorProcessingRequest !== undefined;
}

function observeBug(observe: Observe, cause: unknown): void {
  const original = cause instanceof GraphQLError ? cause.originalError : undefined;
  observe({ kind: "internal-error", cause: original ?? cause });
}
