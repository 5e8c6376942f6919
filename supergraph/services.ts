// services/<name>/service.json describes a service. Other files get what they need from it, at run time or by `npm run generate`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { feedPortOf } from "@tributary/kit/feed/feed-config";
import { z } from "zod";
import { type External, externalSchema } from "./contract/external.ts";
import type { Subgraph } from "./subgraphs.ts";

/** A folder of services/ is a service exactly if it has this file. */
const descriptorName = "service.json";

export interface Service extends Subgraph {
  readonly description: string;
  /** Of the GraphQL and REST endpoints, in containers and by default under `npm start`. */
  readonly port: number;
  readonly feedPort: number;
  /** `line-items` is configured by LINE_ITEMS_PORT, LINE_ITEMS_URL and so on. */
  readonly variablePrefix: string;
  /** What each allows. `NAME:write` is for the caller's own data, `NAME:write:all` for the data of others. */
  readonly scopes: Readonly<Record<string, string>>;
  /** Of `extensions.code` in GraphQL, besides those that the gateway publishes for every subgraph (gateway.yaml). */
  readonly codes: readonly string[];
  /** Whether it has rows in its seed.sql, or in scripts/seed. */
  readonly seed: boolean;
  /** Undefined for a service whose code is in its folder. */
  readonly external: External | undefined;
}

/** `message` has every problem, one a line, with its file and field. */
export class DescriptorError extends Error {
  override readonly name = "DescriptorError";
}

/**
 * Names of the platform's other containers, images, files, databases and variables (`admin` would own ADMIN_PORT), and words that YAML or
 * PostgreSQL read as something else.
 */
const reservedNames = new Set(
  (
    "admin alertmanager cdn collector consistency database databases feed gateway grafana issuer jaeger jwks kustomization network none null " +
    "on off yes no y n true false postgres prometheus public purge purger rate-limit rate-limit-store redis rest-proxy runbooks secrets seed " +
    "service service-account settings start supergraph template0 template1"
  ).split(" "),
);
/** The migration of the service NAME is `migrate-NAME`, its database cluster `NAME-db`, its feed's variable NAME_FEED_URL. */
const reservedPattern = /^(?:every|migrate)-|-(?:db|feed|secrets|keys|to-database)$/;
const codePattern = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;
const scopeWordPattern = /^[a-z]+(-[a-z]+)*$/;
/** Ports of the platform's other processes, with their variables in scripts/start/parts.ts. */
const reservedPorts = new Map([
  [4000, "the gateway"],
  [4010, "the REST proxy"],
  [4020, "the issuer"],
  [4030, "the purger"],
  [4032, "PostgreSQL"],
  [9464, "metrics"],
]);

const descriptor = z.strictObject({
  $schema: z.string().optional(),
  name: z
    .string("is required: the name of the folder")
    .regex(
      /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
      "has to be lower-case words and digits joined by hyphens, such as two-words",
    )
    .max(30, "has to have at most 30 characters"),
  description: z
    .string("is required: one sentence that says what the service owns")
    .regex(/^[A-Z`][^\n]*\.$/, "has to be one sentence, with a capital letter at its start and a full stop"),
  team: z
    .string("is required: the team on GitHub, such as @tributary/platform-team")
    .regex(/^@[\w.-]+(\/[\w.-]+)?$/, "has to be a team or a user on GitHub, such as @tributary/platform-team"),
  port: z
    .int("is required: a port that no other service has")
    .min(1_024, "has to be from 1,024 to 65,435")
    .max(65_535 - feedPortOf(0), "has to be from 1,024 to 65,435: the change feed listens on this port plus 100"),
  scopes: z
    .record(
      z.string(),
      z.string("has to be a text: what the scope allows").min(1, "has to say what the scope allows"),
      "has to be an object of scopes with what each allows",
    )
    .default({}),
  codes: z
    .array(
      z.string("has to be an error code").regex(codePattern, "has to be in capitals, such as OUT_OF_STOCK"),
      "has to be a list of error codes",
    )
    .default([]),
  seed: z.boolean("has to be true or false").default(false),
  external: externalSchema.optional(),
});
type Descriptor = z.infer<typeof descriptor>;

/** In the order of their ports. @throws DescriptorError with every problem of all descriptors. */
export function readServices(root: string): readonly Service[] {
  const folder = join(root, "services");
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  const problems: string[] = [];
  const services = names
    .filter((name) => existsSync(join(folder, name, descriptorName)))
    .flatMap((name) => readDescriptor(root, name, problems))
    .toSorted((a, b) => a.port - b.port);
  problems.push(...findCollisions(services));
  if (problems.length > 0) throw new DescriptorError(problems.join("\n"));
  return services;
}

/** Of one folder anywhere, such as the contract in its team's repository. @throws DescriptorError with every problem. */
export function readServiceIn(folder: string): Service {
  const file = join(folder, descriptorName);
  const problems: string[] = [];
  const report = (problem: string) => problems.push(`${file}: ${problem}`);
  const json = readJson(file, report);
  const { name } = { name: "", ...(json as object | undefined) };
  const [service] = json === undefined ? [] : parseDescriptor(json, name, report);
  if (service === undefined || problems.length > 0) throw new DescriptorError(problems.join("\n"));
  return service;
}

/** Adds what follows by convention from the name, the team and the port. */
export function toService({ name, description, team, port, scopes, codes, seed, external }: Descriptor): Service {
  return {
    name,
    description,
    port,
    scopes,
    codes,
    seed,
    external,
    feedPort: feedPortOf(port),
    folder: `services/${name}`,
    url: `http://127.0.0.1:${port}${external?.graphqlPath ?? "/graphql"}`,
    owner: team,
    variablePrefix: toVariablePrefix(name),
  };
}

/** `rest-proxy` is configured by REST_PROXY_PORT. */
export function toVariablePrefix(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

function readDescriptor(root: string, folder: string, problems: string[]): readonly Service[] {
  const file = `services/${folder}/${descriptorName}`;
  const report = (problem: string) => problems.push(`${file}: ${problem}`);
  const json = readJson(join(root, file), report);
  return json === undefined ? [] : parseDescriptor(json, folder, report);
}

function readJson(file: string, report: (text: string) => unknown): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    report(`is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** For `npm run new:service`: the problems beside the other services, without file names. */
export function findDescriptorProblems(json: { readonly name: string }, others: readonly Service[]): readonly string[] {
  const problems: string[] = [];
  const services = parseDescriptor(json, json.name, (problem) => problems.push(problem));
  return problems.length > 0 ? problems : findCollisions([...others, ...services]);
}

/** Its change feed's port is free too. */
export function findFreePort(services: readonly Service[]): number {
  const taken = new Set([...reservedPorts.keys(), ...services.flatMap(({ port, feedPort }) => [port, feedPort])]);
  let port = 4000;
  while (taken.has(port) || taken.has(feedPortOf(port))) port += 1;
  return port;
}

/** Returns the service even with an unsuitable name, scope or port; nothing if the descriptor does not match its schema. */
function parseDescriptor(json: unknown, folder: string, report: (text: string) => unknown): readonly Service[] {
  const result = descriptor.safeParse(json);
  if (!result.success) {
    for (const issue of result.error.issues) report(describeIssue(issue));
    return [];
  }
  const { name, scopes, port, seed, external } = result.data;
  if (name !== folder) report(`name is "${name}", but the folder is services/${folder}. Give both the same name.`);
  if (reservedNames.has(name) || reservedPattern.test(name))
    report(`name "${name}" is reserved for another part of the platform. Choose another name.`);
  if (external && seed) report("seed is for a service whose code is in this repository: an external one seeds itself.");
  if (external?.image !== undefined) findAddressProblems(external, result.data).forEach(report);
  const invalidScopes = Object.keys(scopes).filter((scope) => !isScopeOf(name, scope));
  for (const scope of invalidScopes)
    report(`scopes: "${scope}" has to begin with the service's name, such as ${name}:write or ${name}:write:all`);
  const takenPorts = [port, feedPortOf(port)].filter((ownPort) => reservedPorts.has(ownPort));
  for (const taken of takenPorts)
    report(`port ${port}: ${taken} is the port of ${reservedPorts.get(taken)}. Choose another port.`);
  return [toService(result.data)];
}

/** Compose and the manifests give the container the name of the service, and the ports of every service. */
function findAddressProblems({ url, feedUrl }: External, { name, port }: Descriptor): readonly string[] {
  const problems: string[] = [];
  const expected = { url: `http://${name}:${port}`, feed: `http://${name}:${feedPortOf(port)}` };
  if (url !== expected.url) problems.push(`external.url has to be ${expected.url}, since external.image runs there`);
  if (feedUrl !== undefined && feedUrl !== expected.feed)
    problems.push(`external.feed has to be ${expected.feed}, since external.image runs there`);
  return problems;
}

function isScopeOf(name: string, scope: string): boolean {
  const [owner, ...words] = scope.split(":");
  if (owner !== name) return false;
  const hasOneOrTwoWords = words.length === 1 || words.length === 2;
  return hasOneOrTwoWords && words.every((word) => scopeWordPattern.test(word));
}

function describeIssue({ code, path, message, ...issue }: z.core.$ZodIssue): string {
  if (code === "unrecognized_keys" && "keys" in issue) {
    // The first field, `$schema`, is only for editors.
    const [, ...fields] = Object.keys(descriptor.shape);
    return `${issue.keys.join(", ")} is unknown. The fields are ${fields.join(", ")}.`;
  }
  return path.length === 0 ? "has to be a JSON object" : `${path.join(".")} ${message}`;
}

function findCollisions(services: readonly Service[]): readonly string[] {
  const listenersByPort = new Map<number, string[]>();
  const add = (port: number, listener: string) =>
    listenersByPort.set(port, [...(listenersByPort.get(port) ?? []), listener]);
  for (const { name, port, feedPort } of services) {
    add(port, `${name} (services/${name}/${descriptorName})`);
    add(feedPort, `the change feed of ${name} (its port plus 100)`);
  }
  const collisions = [...listenersByPort].filter(([, listeners]) => listeners.length > 1);
  return collisions.map(
    ([port, listeners]) => `${listeners.join(" and ")} have the same port ${port}. Change the port of one of them.`,
  );
}
