// The schema of what gateway.yaml has of subgraphs. A key with `meta({ restart: true })` takes effect at the next start only (`key_check`: also with
// the next supergraph).
import { isHttpUrl } from "@tributary/kit/http/http-url";
import { z } from "zod";
import { haveSameCredentials } from "./url-credentials.ts";
import { headerRulesSchema } from "./header-rules-schema.ts";

const timeoutMs = z
  .int()
  .min(10)
  .max(300_000)
  .describe("Deadline of one fetch, retries and body included, in milliseconds. Default: 10000.");

const path = z.string().min(1).max(4_096);

const tls = z
  .strictObject({
    ca: path.describe("The certificates of the only authorities that are accepted. Default: those of Node."),
    cert: path.describe("The gateway's client certificate, followed by the intermediate ones."),
    key: path.describe("The private key of `cert`, without a passphrase."),
  })
  .partial()
  .refine(({ cert, key }) => (cert === undefined) === (key === undefined), "needs both cert and key, or neither");

/** The keys of `all`; a subgraph has more. */
const everySubgraph = {
  timeout_ms: timeoutMs,
  attempts: z
    .int()
    .min(1)
    .max(5)
    .describe(
      "Attempts of one fetch, the first included. A mutation is repeated only if no connection was opened. Default: 3.",
    ),
  requests_in_flight: z
    .int()
    .min(1)
    .max(100_000)
    .describe("Fetches in flight to the subgraph, over all its replicas; further ones fail at once. Default: 1024."),
  body_bytes_max: z
    .int()
    .min(1_000)
    .max(1_000_000_000)
    .describe("A longer response is not read to the end and counts as a failure. Default: 10000000."),
  key_check: z
    .boolean()
    .meta({ restart: true })
    .describe("Whether the keys of returned entities are compared with the requested ones. Default: true."),
  authorization: z
    .enum(["forward", "remove"])
    .describe(
      "Whether the client's Authorization header is sent to the subgraph. User and password in its URL replace it. Default: forward.",
    ),
  compressed_responses: z
    .boolean()
    .describe("Whether the gateway asks for compressed responses: for a subgraph in another network. Default: false."),
  redirects: z
    .enum(["reject", "same_origin"])
    .describe(
      "Whether queries follow up to five redirects within the origin of the subgraph's URL. Mutations never do. Default: reject.",
    ),
  operation_names: z
    .boolean()
    .describe("Whether fetches have the name of the client's operation, as Name__subgraph__0. Default: false."),
  tls: tls.describe("Paths of files in PEM, for https URLs. Renewed files take effect within two seconds."),
};

const urls = z.array(z.string().refine(isHttpUrl, "has to be an http(s) URL")).min(1).max(64);
const subgraphUrls = urls.refine(haveSameCredentials, "have to have the same user and password");

const subgraph = z
  .strictObject({
    urls: subgraphUrls.describe("GraphQL URLs of the replicas. Default: the URL in the supergraph."),
    owner: z
      .string()
      .min(1)
      .max(200)
      .describe("The team that owns the subgraph: in /status and, in development, on /owners."),
    ...everySubgraph,
    entity_cache: z
      .boolean()
      .meta({ restart: true })
      .describe("Whether results of the subgraph that are the same for every caller are cached. Default: false."),
    feed_urls: z
      .union([urls, z.literal("none")])
      .meta({ restart: true })
      .describe(
        "Scheme, host and port of the change feed of each replica; none: it has no feed. Default: the URLs with the port + 100.",
      ),
  })
  .partial();

const code = z.string().regex(/^[\w.:-]{1,100}$/, "has to be a code of 1 to 100 letters, digits and _ . : -");

const errorPolicy = z
  .strictObject({
    codes: z
      .union([z.literal("all"), z.array(code).max(500)])
      .describe("Values of extensions.code that clients get, besides the default ones; all: any. Others are masked."),
    extensions: z
      .array(z.string().min(1).max(100))
      .max(50)
      .describe("Further keys of extensions that clients get with an allowed code, besides problems."),
    messages: z
      .enum(["pass", "mask"])
      .describe(
        "Whether clients get the message of an error with an allowed code, or the code's default one. Default: pass.",
      ),
  })
  .partial();

const perSubgraph = <Schema extends z.ZodType>(schema: Schema) =>
  z.strictObject({ all: schema, subgraphs: z.record(z.string(), schema) }).partial();

export const subgraphSections = {
  all: z.strictObject(everySubgraph).partial().describe("Every subgraph, unless `subgraphs` says otherwise."),
  subgraphs: z.record(z.string(), subgraph).describe("By the subgraph's name in the supergraph."),
  headers: perSubgraph(headerRulesSchema).describe("Headers between clients and subgraphs."),
  errors: perSubgraph(errorPolicy).describe("Which errors of subgraphs clients get. Others are masked."),
};

const sections = z.strictObject(subgraphSections).partial();

export type SubgraphSections = z.infer<typeof sections>;
export type SubgraphFileSettings = z.infer<typeof subgraph>;
export type ErrorPolicyFileSettings = z.infer<typeof errorPolicy>;
