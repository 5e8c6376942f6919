// The subgraphs that a user names, on the command line (`users=./users.graphql`) or in a file of the form that Rover reads
// (https://www.apollographql.com/docs/rover/commands/supergraphs#yaml-configuration-file).
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isHttpUrl } from "@tributary/kit/http/http-url";
import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { insertVariables } from "@tributary/kit/process/env-references";
import { type Document, parseDocument, visit } from "yaml";
import { z } from "zod";

export interface SubgraphInput {
  readonly name: string;
  readonly schema:
    | { readonly kind: "text"; readonly sdl: string }
    /** Absolute. */
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "url"; readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** Undefined: the gateway needs SUBGRAPH_URL_<NAME>. */
  readonly routingUrl: string | undefined;
}

export interface NamedInputs {
  /** Each `NAME=FILE` or `NAME=URL`. */
  readonly named: readonly string[];
  /** Routing URLs, each `NAME=URL`. */
  readonly urls: readonly string[];
}

/** @throws ConfigError with every problem. */
export function readNamedInputs({ named, urls }: NamedInputs, folder: string): readonly SubgraphInput[] {
  const problems: string[] = [];
  const sources = readPairs(named, "NAME=FILE or NAME=URL", problems);
  const routingUrls = readPairs(urls, "--url NAME=URL", problems);
  for (const [name, url] of routingUrls) {
    if (!sources.has(name)) problems.push(`--url ${name}=${url}: there is no subgraph ${name}`);
    if (!isHttpUrl(url)) problems.push(`--url ${name}=${url}: write an http(s) URL`);
  }
  for (const [name, url] of [...sources, ...routingUrls])
    if (hasCredentials(url)) problems.push(`${name}: the URL ${noCredentials}`);
  if (problems.length > 0) throw invalid(problems);
  return [...sources].map(([name, source]) =>
    isHttpUrl(source)
      ? { name, schema: { kind: "url", url: source, headers: {} }, routingUrl: routingUrls.get(name) ?? source }
      : { name, schema: toFile(source, folder), routingUrl: routingUrls.get(name) },
  );
}

function readPairs(texts: readonly string[], form: string, problems: string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) problems.push(`${text}: write ${form}`);
    else if (pairs.has(name)) problems.push(`${text}: ${name} is given twice`);
    else pairs.set(name, value);
  }
  return pairs;
}

/** They would be in the supergraph, and in every message. */
const noCredentials = "has to have no credentials: give them by introspection_headers in a supergraph.yaml";

function hasCredentials(text: string): boolean {
  return isHttpUrl(text) && new URL(text).username + new URL(text).password !== "";
}

const httpUrl = z
  .string()
  .refine(isHttpUrl, "has to be an http(s) URL")
  .refine((text) => !hasCredentials(text), noCredentials);
/** RFC 9110, 5.5. The message of `fetch` would have the value. */
const headerValue = z
  .string()
  .trim()
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "has to be a header value");
const schema = z
  .strictObject({
    file: z.string().optional(),
    subgraph_url: httpUrl.optional(),
    introspection_headers: z.record(z.string(), headerValue).optional(),
    sdl: z.string().optional(),
  })
  .refine(
    ({ file, subgraph_url: url, sdl }) => [file, url, sdl].filter((source) => source !== undefined).length === 1,
    "has to have one of file, subgraph_url and sdl",
  );
const configuration = z.strictObject({
  /** Without effect: there is one version of composition, which composes every earlier one. */
  federation_version: z.union([z.string(), z.number()]).optional(),
  subgraphs: z
    .record(z.string(), z.strictObject({ routing_url: httpUrl.optional(), schema }))
    .refine((subgraphs) => Object.keys(subgraphs).length > 0, "has to have a subgraph"),
});
type Configured = z.infer<typeof configuration>["subgraphs"][string];

/**
 * @param path of the file; the files that it names are relative to its folder.
 * @param environment for `${env.NAME}`.
 * @throws ConfigError with every problem.
 */
export function readConfiguredInputs(path: string, environment: Environment): readonly SubgraphInput[] {
  const document = parseDocument(readText(path), { uniqueKeys: true });
  const problems = document.errors.map(({ message }) => `${path}: ${message}`);
  if (problems.length > 0) throw invalid(problems);
  visit(document, {
    Scalar(key, node) {
      if (key === "key" || typeof node.value !== "string") return;
      const onMissing = (variable: string) => problems.push(`${path}: the variable ${variable} is not set`);
      node.value = insertVariables(node.value, environment, onMissing);
    },
  });
  const result = configuration.safeParse(toPlain(document, path));
  for (const issue of result.error?.issues ?? [])
    problems.push([path, issue.path.join("."), issue.message].filter((part) => part !== "").join(": "));
  if (!result.success || problems.length > 0) throw invalid(problems);
  return Object.entries(result.data.subgraphs).map(([name, configured]) => toInput(name, configured, dirname(path)));
}

/** With aliases, as Rover reads them. */
function toPlain(document: Document, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without its anchor, or too many.
    throw invalid([`${path}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function invalid(problems: readonly string[]): ConfigError {
  return new ConfigError(problems, "The subgraphs are not given correctly:");
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw invalid([String(error)]);
  }
}

function toInput(name: string, { routing_url: routingUrl, schema: source }: Configured, folder: string): SubgraphInput {
  const { file, subgraph_url: url, introspection_headers: headers = {}, sdl = "" } = source;
  if (file !== undefined) return { name, schema: toFile(file, folder), routingUrl };
  if (url !== undefined) return { name, schema: { kind: "url", url, headers }, routingUrl: routingUrl ?? url };
  return { name, schema: { kind: "text", sdl }, routingUrl };
}

function toFile(file: string, folder: string) {
  return { kind: "file", path: resolve(folder, file) } as const;
}
