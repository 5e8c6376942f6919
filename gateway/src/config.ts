import { type Environment, type EnvironmentReader, readEnvironment } from "@tributary/kit/process/env";
import { readListenerConfig } from "@tributary/kit/process/listener-config";
import { readTelemetryConfig } from "@tributary/kit/process/telemetry-config";
import type { OperationLimits } from "./parse/limits.ts";

export type Config = ReturnType<typeof readConfig>;

/** A DNS name stands for as many replicas as it has addresses; this bounds those that are written down. */
const replicasMax = 64;

const localOrigins = ["http://localhost:*", "http://127.0.0.1:*"];

/**
 * The gateway's configuration. A supergraph's place is all that is required.
 * @throws ConfigError with every problem at once.
 */
export function readConfig(environment: Environment) {
  return readEnvironment(environment, (env) => {
    const profile = env.choice("PROFILE", {
      of: ["development", "production"],
      fallback: "development",
      why: "production takes nothing for granted and knows no local issuer",
    });
    return {
      profile,
      ...readListenerConfig(env, { port: 4000, shutdownGraceMs: 8_000 }),
      ...readTelemetryConfig(env, { name: "gateway" }),
      ...readKnownNames(env),
      supergraph: readSupergraph(env),
      ...readBounds(env),
      operationLimits: readOperationLimits(env),
      planning: readPlanning(env),
      fastLane: env.flag("FAST_LANE", {
        fallback: true,
        why: "operations that were admitted before go past Express and Apollo Server; the answers are the same",
      }),
      fetchSharing: env.flag("FETCH_SHARING", {
        fallback: true,
        why: "equal queries to a subgraph that are in flight at once, for equal callers, are sent once, unless a mutation sent there by this process settled between them; what follows from their responses is computed once",
      }),
      overrideLabels: readOverrideLabels(env),
      serverTiming: env.flag("SERVER_TIMING", {
        fallback: false,
        why: "answers tell in Server-Timing what the stages took; off, as it tells strangers too and costs each answer",
      }),
      introspection: env.flag("INTROSPECTION", {
        fallback: true,
        why: "false closes __schema, __type, /schema.graphql and suggestions in messages",
      }),
      introspectionBytesMax: env.integer("INTROSPECTION_BYTES_MAX", {
        fallback: 1_000_000,
        min: 1_000,
        max: 100_000_000,
        why: "JSON of an operation's introspection fields; a longer response is refused, unless it is at most twice as long as that of the introspection query that tools send",
      }),
      corsOrigins: env.list("CORS_ORIGINS", {
        fallback: profile === "development" ? localOrigins : [],
        why: "origins whose pages may read answers; http://host:* is any port; production has none by default",
      }),
      issuerUrl: readIssuerUrl(env, profile),
    };
  });
}

/** Each is a label of several metrics: there is a bound. */
const knownClientsMax = 100;
/** Configured and learned ones together. */
export const operationLabelsMax = 100;

function readKnownNames(env: EnvironmentReader) {
  const knownClients = env.list("KNOWN_CLIENTS", {
    fallback: [],
    why: "client names, 100 at most, that are counted by themselves; all others are one",
  });
  const knownOperations = env.list("KNOWN_OPERATIONS", {
    fallback: [],
    why: "operation names, 100 at most, that are counted by themselves from the start; others from their 101st request on while there are fewer than 100",
  });
  if (knownClients.length > knownClientsMax) env.problem(`KNOWN_CLIENTS has at most ${knownClientsMax} names`);
  if (knownOperations.length > operationLabelsMax)
    env.problem(`KNOWN_OPERATIONS has at most ${operationLabelsMax} names`);
  return { knownClients, knownOperations };
}

const overrideLabelsMax = 32;
/** As composition accepts it; `percent(n)` is not configured but evaluated for each request. */
const overrideLabel = /^[a-z][\w\-:./]*$/i;

function readOverrideLabels(env: EnvironmentReader): readonly string[] {
  const labels = env.list("OVERRIDE_LABELS", {
    fallback: [],
    why: "labels of @override, 32 at most, that are true for every request; other labels are false, and percent(n) is true for n percent of the traces",
  });
  if (labels.length > overrideLabelsMax) env.problem(`OVERRIDE_LABELS has at most ${overrideLabelsMax} labels`);
  if (!labels.every((label) => overrideLabel.test(label)))
    env.problem("OVERRIDE_LABELS: a label starts with a letter, followed by letters, digits and _ - : . /");
  return labels;
}

function readSupergraph(env: EnvironmentReader) {
  const file = env.optional("SUPERGRAPH_FILE", {
    why: "the supergraph's file, watched; this or SUPERGRAPH_URL is required",
  });
  const url = env.optional("SUPERGRAPH_URL", {
    why: "the supergraph's address, asked with ETag; this or SUPERGRAPH_FILE is required",
  });
  if ((file === undefined) === (url === undefined)) {
    env.problem(
      "Exactly one of SUPERGRAPH_FILE and SUPERGRAPH_URL is required: the gateway serves the supergraph found there",
    );
  }
  if (url !== undefined && !isHttpUrl(url)) env.problem("SUPERGRAPH_URL is not an http(s) URL");
  const pollMs = env.integer("SUPERGRAPH_POLL_MS", {
    fallback: 2_000,
    min: 20,
    max: 3_600_000,
    why: "how often the supergraph's source is looked at; a file is also watched",
  });
  return { file, url, pollMs, subgraphUrls: readSubgraphUrls(env), subgraphKeyChecks: readKeyChecks(env) };
}

/** By variable name: the replicas of one subgraph, separated by commas. */
function readSubgraphUrls(env: EnvironmentReader): Readonly<Record<string, readonly string[]>> {
  const variables = Object.entries(env.withPrefix("SUBGRAPH_URL_"));
  return Object.fromEntries(
    variables.map(([name, text]) => {
      const urls = text.split(",").map((url) => url.trim());
      if (urls.length > replicasMax) env.problem(`${name} lists more than ${replicasMax} URLs`);
      if (!urls.every(isHttpUrl)) env.problem(`${name} is not an http(s) URL, or a list of them separated by commas`);
      return [name, urls];
    }),
  );
}

/** By variable name: whether the gateway checks the keys of entities from one subgraph. */
function readKeyChecks(env: EnvironmentReader): Readonly<Record<string, boolean>> {
  const variables = Object.entries(env.withPrefix("SUBGRAPH_KEY_CHECK_"));
  return Object.fromEntries(
    variables.map(([name, text]) => {
      if (text !== "on" && text !== "off") env.problem(`${name} is neither on nor off`);
      return [name, text !== "off"];
    }),
  );
}

function readBounds(env: EnvironmentReader) {
  return {
    requestTimeoutMs: env.integer("REQUEST_TIMEOUT_MS", {
      fallback: 30_000,
      min: 10,
      max: 300_000,
      why: "after this a client gets what is there, and an error for what is not",
    }),
    responseTimeoutMs: env.integer("RESPONSE_TIMEOUT_MS", {
      fallback: 30_000,
      min: 10,
      max: 300_000,
      why: "a client has this long to read its answer; then the connection is cut",
    }),
    subgraphTimeoutMs: env.integer("SUBGRAPH_TIMEOUT_MS", {
      fallback: 10_000,
      min: 10,
      max: 300_000,
      why: "the deadline of one fetch from a subgraph, body included",
    }),
    subgraphBodyBytesMax: env.integer("SUBGRAPH_BODY_BYTES_MAX", {
      fallback: 10_000_000,
      min: 1_000,
      max: 1_000_000_000,
      why: "a longer answer of a subgraph is cut and counts as an error",
    }),
    graphqlBodyBytesMax: env.integer("GRAPHQL_BODY_BYTES_MAX", {
      fallback: 1_048_576,
      min: 1_000,
      max: 100_000_000,
      why: "a longer body of a client, unpacked, is 413",
    }),
    documentTokensMax: env.integer("DOCUMENT_TOKENS_MAX", {
      fallback: 10_000,
      min: 100,
      max: 1_000_000,
      why: "a document with more lexical tokens is refused before it is parsed to the end",
    }),
  };
}

/** Each is refused with a code of its own, before validation and planning. The defaults are far above what people write. */
function readOperationLimits(env: EnvironmentReader): OperationLimits {
  const limit = (name: string, fallback: number, max: number, why: string) =>
    env.integer(name, { fallback, min: 1, max, why });
  return {
    charactersMax: limit(
      "OPERATION_CHARACTERS_MAX",
      250_000,
      10_000_000,
      "characters of an operation's names and values, fragments written out",
    ),
    selectionsMax: limit("SELECTIONS_MAX", 2_000, 1_000_000, "selections of an operation, fragments written out"),
    depthMax: limit("DEPTH_MAX", 50, 1_000, "fields within fields"),
    aliasesMax: limit("ALIASES_MAX", 200, 1_000_000, "aliases of an operation, fragments written out"),
    rootFieldsMax: limit("ROOT_FIELDS_MAX", 50, 10_000, "root fields of an operation, fragments written out"),
    directivesMax: limit("DIRECTIVES_MAX", 200, 1_000_000, "directives of an operation, fragments written out"),
    listEntriesMax: limit("LIST_ENTRIES_MAX", 1_000, 1_000_000, "entries of one list in an argument of a document"),
  };
}

function readPlanning(env: EnvironmentReader) {
  return {
    workers: env.integer("PLANNER_WORKERS", {
      fallback: 1,
      min: 1,
      max: 16,
      why: "threads that plan operations nobody asked for before; each takes some 100 MB",
    }),
    planTimeoutMs: env.integer("PLAN_TIMEOUT_MS", {
      fallback: 5_000,
      min: 50,
      max: 300_000,
      why: "an operation that takes longer to plan is refused, and not tried again for ten seconds, then for twice as long each time, up to ten minutes",
    }),
    plansMax: env.integer("PLANS_MAX", {
      fallback: 10_000,
      min: 1,
      max: 1_000_000,
      why: "number of cached plans, per supergraph",
    }),
    operationsBytesMax: env.integer("OPERATIONS_BYTES_MAX", {
      fallback: 96_000_000,
      min: 1_000_000,
      max: 10_000_000_000,
      why: "estimated memory of cached documents with all that is compiled for them, per supergraph; an operation of four fetches takes some 50 KB",
    }),
    plansBytesMax: env.integer("PLANS_BYTES_MAX", {
      fallback: 30_000_000,
      min: 1_000,
      max: 10_000_000_000,
      why: "cached plans, per supergraph, as JSON",
    }),
  };
}

function readIssuerUrl(env: EnvironmentReader, profile: "development" | "production"): string | undefined {
  const url = env.optional("ISSUER_URL", {
    why: "development only: the local token issuer that GraphiQL offers callers from",
  });
  if (url === undefined) return undefined;
  if (profile === "production") env.problem("ISSUER_URL is for PROFILE=development: production knows no local issuer");
  if (!isHttpUrl(url)) env.problem("ISSUER_URL is not an http(s) URL");
  return url;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
}
