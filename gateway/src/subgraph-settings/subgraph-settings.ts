// The settings of each subgraph of a supergraph, by precedence: its variable, `subgraphs.<name>` of gateway.yaml, the variable for all subgraphs, `all` of
// gateway.yaml, the default.
import { isHttpUrl } from "@tributary/kit/http/http-url";
import type { TlsMaterial } from "@tributary/kit/upstream/undici-transport";
import { type ConstDirectiveNode, type DocumentNode, Kind } from "graphql";
import type { ErrorPolicyFileSettings, SubgraphFileSettings, SubgraphSections } from "./subgraph-schema.ts";
import { createErrorPolicy, type ErrorPolicy } from "./error-policy.ts";
import { createRequestHeaderRules, type RequestHeaderRules } from "./request-headers.ts";
import { createResponseHeaderRules, type ResponseHeaderRules } from "./response-headers.ts";
import type { TlsFiles } from "./tls-files.ts";
import { splitCredentials } from "./url-credentials.ts";
import {
  cachePrefix,
  feedPrefix,
  keyCheckPrefix,
  type SubgraphVariables,
  suffixOf,
  urlPrefix,
} from "./subgraph-variables.ts";

export interface SubgraphSettings {
  readonly service: string;
  /** The team. */
  readonly owner: string | undefined;
  /** The URLs of its replicas, without credentials; empty if neither the supergraph nor the configuration has a usable URL. */
  readonly urls: readonly string[];
  /** The deadline of one fetch, retries and body included. */
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  /** Fetches in flight, over all replicas. */
  readonly requestsMax: number;
  readonly bodyBytesMax: number;
  /** Whether the keys of returned entities are compared with the requested ones (run/entities.ts). */
  readonly checksKeys: boolean;
  /** False if the settings set another one, or none. */
  readonly forwardsAuthorization: boolean;
  /** By the credentials in its URLs, for every request. */
  readonly authorization: string | undefined;
  readonly wantsCompression: boolean;
  readonly followsRedirects: boolean;
  readonly sendsOperationNames: boolean;
  /** Undefined: Node's authorities, and no client certificate. */
  readonly tls: TlsMaterial | undefined;
  /** Undefined without rules. */
  readonly requestHeaders: RequestHeaderRules | undefined;
  readonly responseHeaders: ResponseHeaderRules | undefined;
  readonly errors: ErrorPolicy;
  /** Equal for equal settings. */
  readonly fingerprint: string;
}

/** A setting with where it comes from, for `GET /config` of the admin port. */
export interface Effective<Value> {
  readonly value: Value;
  readonly from: string;
}

/** What is configured of subgraphs, before a supergraph names them. */
export interface SubgraphConfiguration {
  /** Increases with each change. */
  readonly revision: number;
  readonly variables: SubgraphVariables;
  readonly file: SubgraphSections;
  readonly tlsFiles: TlsFiles;
}

export interface SupergraphSubgraph {
  readonly service: string;
  /** Empty if the supergraph has none. */
  readonly url: string;
}

type ForEverySubgraph = {
  readonly [Key in keyof NonNullable<SubgraphSections["all"]>]-?: NonNullable<
    NonNullable<SubgraphSections["all"]>[Key]
  >;
};

const defaults: ForEverySubgraph = {
  timeout_ms: 10_000,
  attempts: 3,
  requests_in_flight: 1_024,
  body_bytes_max: 10_000_000,
  key_check: true,
  authorization: "forward",
  compressed_responses: false,
  redirects: "reject",
  operation_names: false,
  tls: {},
};

type Candidate<Value> = readonly [from: string, value: Value | undefined];

/** The first that is set. */
function choose<Value>(candidates: readonly Candidate<Value>[], [from, fallback]: readonly [string, Value]) {
  for (const [name, value] of candidates) if (value !== undefined) return { from: name, value };
  return { from, value: fallback };
}

/** For each setting its value, and where it comes from. */
export function describeSubgraph(
  { service, url }: SupergraphSubgraph,
  { variables, file }: Pick<SubgraphConfiguration, "variables" | "file">,
) {
  const suffix = suffixOf(service);
  const own: SubgraphFileSettings = file.subgraphs?.[service] ?? {};
  const ownName = (key: string) => `gateway.yaml: subgraphs.${service}.${key}`;
  /** @param forOne the variable of this subgraph. @param forAll the variable of all subgraphs. */
  const read = <Key extends keyof ForEverySubgraph>(
    key: Key,
    forOne: readonly Candidate<ForEverySubgraph[Key]>[] = [],
    forAll: readonly Candidate<ForEverySubgraph[Key]>[] = [],
  ): Effective<ForEverySubgraph[Key]> =>
    choose(
      [
        ...forOne,
        [ownName(key), own[key] as ForEverySubgraph[Key] | undefined],
        ...forAll,
        [`gateway.yaml: all.${key}`, file.all?.[key] as ForEverySubgraph[Key] | undefined],
      ],
      ["default", defaults[key]],
    );
  return {
    urls: choose<readonly string[]>(
      [
        [`${urlPrefix}${suffix}`, variables.urls.get(suffix)],
        [ownName("urls"), own.urls],
      ],
      ["supergraph", isHttpUrl(url) ? [url] : []],
    ),
    owner: choose<string | undefined>([[ownName("owner"), own.owner]], ["default", undefined]),
    timeout_ms: read("timeout_ms", [], [["SUBGRAPH_TIMEOUT_MS", variables.timeoutMs]]),
    attempts: read("attempts"),
    requests_in_flight: read("requests_in_flight"),
    body_bytes_max: read("body_bytes_max", [], [["SUBGRAPH_BODY_BYTES_MAX", variables.bodyBytesMax]]),
    key_check: read("key_check", [[`${keyCheckPrefix}${suffix}`, variables.checksKeys.get(suffix)]]),
    authorization: read("authorization"),
    compressed_responses: read("compressed_responses"),
    redirects: read("redirects"),
    operation_names: read("operation_names"),
    tls: read("tls"),
  };
}

export function resolveSubgraph(subgraph: SupergraphSubgraph, configuration: SubgraphConfiguration): SubgraphSettings {
  const { service } = subgraph;
  const { headers = {}, errors = {} } = configuration.file;
  const effective = describeSubgraph(subgraph, configuration);
  const of = headers.subgraphs?.[service];
  const requestRules = [...(headers.all?.request ?? []), ...(of?.request ?? [])];
  const responseRules = [...(headers.all?.response ?? []), ...(of?.response ?? [])];
  const errorSettings = mergeErrorPolicies(errors.all, errors.subgraphs?.[service]);
  const requestHeaders = createRequestHeaderRules(requestRules);
  const { urls, authorization } = splitCredentials(effective.urls.value);
  const plain = {
    service,
    owner: effective.owner.value,
    urls,
    timeoutMs: effective.timeout_ms.value,
    attemptsMax: effective.attempts.value,
    requestsMax: effective.requests_in_flight.value,
    bodyBytesMax: effective.body_bytes_max.value,
    checksKeys: effective.key_check.value,
    forwardsAuthorization:
      effective.authorization.value === "forward" &&
      !requestHeaders?.withholdsAuthorization &&
      authorization === undefined,
    // Not if a rule inserts one: headers that are configured replace the credentials of a URL, which may be in the supergraph.
    authorization: requestHeaders?.insertsAuthorization ? undefined : authorization,
    wantsCompression: effective.compressed_responses.value,
    followsRedirects: effective.redirects.value === "same_origin",
    sendsOperationNames: effective.operation_names.value,
    tls: toTlsMaterial(effective.tls.value, configuration.tlsFiles),
  };
  return {
    ...plain,
    requestHeaders,
    responseHeaders: createResponseHeaderRules(responseRules),
    errors: createErrorPolicy(errorSettings),
    fingerprint: JSON.stringify([plain, requestRules, responseRules, errorSettings]),
  };
}

/** Files that cannot be read are reported before (tls-files.ts). */
function toTlsMaterial({ ca, cert, key }: ForEverySubgraph["tls"], files: TlsFiles): TlsMaterial | undefined {
  if (ca === undefined && cert === undefined) return undefined;
  const textOf = (path: string | undefined) => (path === undefined ? undefined : files.get(path));
  return { ca: textOf(ca), cert: textOf(cert), key: textOf(key) };
}

/** A subgraph's codes and extensions add to those of all. */
function mergeErrorPolicies(
  all: ErrorPolicyFileSettings = {},
  own: ErrorPolicyFileSettings = {},
): ErrorPolicyFileSettings {
  const isEveryCode = all.codes === "all" || own.codes === "all";
  const codes = isEveryCode ? "all" : [...listOf(all.codes), ...listOf(own.codes)];
  const extensions = [...(all.extensions ?? []), ...(own.extensions ?? [])];
  const messages = own.messages ?? all.messages;
  return messages === undefined ? { codes, extensions } : { codes, extensions, messages };
}

function listOf(codes: ErrorPolicyFileSettings["codes"]): readonly string[] {
  return codes === undefined || codes === "all" ? [] : codes;
}

/** Variables and names of gateway.yaml that name no subgraph of this supergraph, most likely by a typo. */
export function listUnknownNames(
  subgraphs: readonly SupergraphSubgraph[],
  { variables, file }: Pick<SubgraphConfiguration, "variables" | "file">,
): { readonly variables: readonly string[]; readonly keys: readonly string[] } {
  const { urls, checksKeys, feeds, cached } = variables;
  const services = new Set(subgraphs.map(({ service }) => service));
  const suffixes = new Set(subgraphs.map(({ service }) => suffixOf(service)));
  const unknownSuffixes = (prefix: string, named: { keys(): Iterable<string> }) =>
    [...named.keys()].filter((suffix) => !suffixes.has(suffix)).map((suffix) => `${prefix}${suffix}`);
  // `validate` also passes what is no object.
  const unknownKeys = (key: string, named: unknown) =>
    Object.keys(named instanceof Object && !Array.isArray(named) ? named : {})
      .filter((service) => !services.has(service))
      .map((service) => `${key}.${service}`);
  return {
    variables: [
      ...unknownSuffixes(urlPrefix, urls),
      ...unknownSuffixes(keyCheckPrefix, checksKeys),
      ...unknownSuffixes(cachePrefix, cached),
      ...unknownSuffixes(feedPrefix, feeds),
    ],
    keys: [
      ...unknownKeys("subgraphs", file.subgraphs),
      ...unknownKeys("headers.subgraphs", file.headers?.subgraphs),
      ...unknownKeys("errors.subgraphs", file.errors?.subgraphs),
    ],
  };
}

/**
 * The values of the `join__Graph` enum (join spec v0.1 to v0.5).
 * @throws Error if the document is not a supergraph.
 */
export function readSubgraphs(supergraph: DocumentNode): readonly (SupergraphSubgraph & { readonly graph: string })[] {
  const graphEnum = supergraph.definitions.find(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === "join__Graph",
  );
  if (graphEnum?.kind !== Kind.ENUM_TYPE_DEFINITION)
    throw new Error("The schema is not a supergraph: it has no enum join__Graph");
  return (graphEnum.values ?? []).map((enumValue) => {
    const directive = enumValue.directives?.find(({ name }) => name.value === "join__graph");
    const service = readStringArgument(directive, "name") || enumValue.name.value;
    return { service, graph: enumValue.name.value, url: readStringArgument(directive, "url") };
  });
}

/** "" if the directive or the argument is missing, or the argument is no string. */
function readStringArgument(directive: ConstDirectiveNode | undefined, argumentName: string): string {
  const argument = directive?.arguments?.find(({ name }) => name.value === argumentName);
  const value = argument?.value;
  return value?.kind === Kind.STRING ? value.value : "";
}
