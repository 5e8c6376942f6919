import { ApolloServer, type ApolloServerPlugin } from "@apollo/server";
import { unwrapResolverError } from "@apollo/server/errors";
import {
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from "@apollo/server/plugin/disabled";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { expressMiddleware } from "@as-integrations/express5";
import express, { type NextFunction, type Request, type Response, type Router } from "express";
import { type GraphQLError, type GraphQLFormattedError, parse } from "graphql";
import { separateEntities } from "./entities.ts";
import { AppError, type ErrorCode, statusOf } from "./errors.ts";
import { hasInexactNumber } from "./exact-json.ts";
import type { Authenticate, Identity } from "./identity.ts";
import type { Log } from "./log.ts";
import { createRootFieldsRule } from "./root-fields.ts";
import { createGraphqlObserver } from "./telemetry/graphql-observer.ts";
import type { ServiceObserver } from "./telemetry/service-observer.ts";

export interface SubgraphDoorOptions<Context extends object> {
  /** The text of the service's `schema.graphql`. */
  readonly typeDefs: string;
  /** The resolver map, typed by the service's generated types. */
  readonly resolvers: object;
  readonly authenticate: Authenticate;
  /** Everything a request needs, made anew for each: loaders must not outlive it. */
  readonly createContext: (identity: Identity) => Context;
  readonly log: Log;
  readonly observer?: ServiceObserver | undefined;
  /** The gateway's entity requests are long: 2 MiB. */
  readonly bodyBytesMax?: number;
}

export interface SubgraphDoor {
  readonly router: Router;
  stop(): Promise<void>;
}

const rootFieldsMax = 100;

/**
 * A service's GraphQL door, `POST /graphql`. A token that does not hold is refused with its status before anything runs.
 * Errors that are for the caller keep their code and problems; all others are masked and logged whole.
 */
export async function createSubgraphDoor<Context extends object>(
  o: SubgraphDoorOptions<Context>,
): Promise<SubgraphDoor> {
  const schema = buildSubgraphSchema([{ typeDefs: parse(o.typeDefs), resolvers: o.resolvers as never }]);
  separateEntities(schema);
  const server = new ApolloServer<Context>({
    schema,
    formatError: (formatted, error) => toClientError(formatted, error, o.log),
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    // The gateway sends every query whole; a store of them would only be a thing to fill.
    persistedQueries: false,
    validationRules: [createRootFieldsRule(rootFieldsMax)],
    parseOptions: { maxTokens: 20_000 },
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      createFailureLog(o.log),
      ...(o.observer ? [createGraphqlObserver(o.observer, schema)] : []),
    ],
    logger: o.log,
  });
  await server.start();
  const router = express.Router();
  // Until it is known what is asked for; what is refused before stays so.
  router.use((_request, _response, next) => {
    o.observer?.nameRoute("graphql", "other");
    next();
  });
  router.use(express.json({ limit: o.bodyBytesMax ?? 2_097_152, verify: requireExactNumbers }));
  // Before Apollo Server, which would turn a refused token into a 500.
  router.use(async (request, response, next) => {
    response.locals["identity"] = await o.authenticate(request.headers.authorization);
    next();
  });
  router.use(
    expressMiddleware(server, { context: async ({ res }) => o.createContext(res.locals["identity"] as Identity) }),
  );
  router.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    answerRefusal(o.log, error, response);
  });
  return { router, stop: () => server.stop() };
}

/** What the caller reads without its cause, the log gets with it: of one request once for each code, since a database that is down costs every field. */
function createFailureLog(log: Log): ApolloServerPlugin {
  const didEncounterErrors = ({ errors }: { readonly errors: readonly GraphQLError[] }) => {
    const failures = errors.map(unwrapResolverError).filter(hasCause);
    for (const [err, ...others] of Map.groupBy(failures, ({ code }) => code).values()) {
      log.warn({ err, fieldCount: 1 + others.length }, "fields failed");
    }
    return Promise.resolve();
  };
  return { requestDidStart: () => Promise.resolve({ didEncounterErrors }) };
}

function hasCause(error: unknown): error is AppError {
  return error instanceof AppError && error.cause !== undefined;
}

function toClientError(formatted: GraphQLFormattedError, error: unknown, log: Log): GraphQLFormattedError {
  const original = unwrapResolverError(error);
  const place = {
    ...(formatted.path === undefined ? {} : { path: formatted.path }),
    ...(formatted.locations === undefined ? {} : { locations: formatted.locations }),
  };
  if (original instanceof AppError) {
    const problems = original.problems === undefined ? {} : { problems: original.problems };
    return { message: original.message, ...place, extensions: { code: original.code, ...problems } };
  }
  const code = formatted.extensions?.["code"];
  if (code !== undefined && code !== "INTERNAL_SERVER_ERROR") {
    return { message: formatted.message, ...place, extensions: { code } };
  }
  log.error({ err: original }, "a field failed");
  return { message: "Something went wrong on our side.", ...place, extensions: { code: "INTERNAL_SERVER_ERROR" } };
}

/** Body parser errors and tokens that do not hold: before GraphQL begins, so the status says it. */
function answerRefusal(log: Log, error: unknown, response: Response): void {
  const { code, message, retryAfterSeconds } = toRefusal(error);
  if (code === "INTERNAL_SERVER_ERROR") log.error({ err: error }, "a GraphQL request failed");
  if (code === "SERVICE_UNAVAILABLE") log.warn({ err: error }, "a GraphQL request could not be begun");
  if (code === "UNAUTHENTICATED") response.setHeader("WWW-Authenticate", 'Bearer realm="tributary"');
  if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", String(retryAfterSeconds));
  response.status(statusOf[code]).json({ errors: [{ message, extensions: { code } }] });
}

/** Whoever calls without the gateway, which sends no such numbers, must not get the row of another id. */
function requireExactNumbers(_request: unknown, _response: unknown, body: Buffer): void {
  // What is looked for is ASCII, which is the same in both.
  if (!hasInexactNumber(body.toString("latin1"))) return;
  throw new AppError("MALFORMED_REQUEST", "A number has more digits than can be kept. Send ids as texts.");
}

function toRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  const code: ErrorCode =
    status === 413
      ? "PAYLOAD_TOO_LARGE"
      : status === 415
        ? "UNSUPPORTED_MEDIA_TYPE"
        : status === 400
          ? "MALFORMED_REQUEST"
          : "INTERNAL_SERVER_ERROR";
  const message =
    code === "INTERNAL_SERVER_ERROR" ? "Something went wrong on our side." : "The request cannot be read.";
  return new AppError(code, message, { cause: error });
}
