// services/<name>/service.json describes a service. Other files get what they need from it, at run time or by `npm run generate`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "@tributary/kit/errors/input-error";
import { feedPortOf } from "@tributary/kit/feed/feed-config";
import { z } from "zod";
import { type CompositionError, printCompositionError } from "./composition/composition-errors.ts";
import { type ContractFile, openContractFile } from "./contract/contract-file.ts";
import { type External, externalMembers, externalSchema, readExternal } from "./contract/external.ts";
import { memberOf, textOf } from "./contract/json-members.ts";
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
  /** Whether its folder has a seed.sql, with the rows of a new development database. */
  readonly seed: boolean;
  /** Undefined for a service whose code is in its folder. */
  readonly external: External | undefined;
}

/** `message` has every problem, with its file and field. */
export class DescriptorError extends InputError {
  override readonly name = "DescriptorError";

  constructor(problems: readonly CompositionError[]) {
    super(problems.map(printCompositionError).join("\n"));
  }
}

export interface Descriptors {
  /** In the order of their ports. */
  readonly services: readonly Service[];
  /** The services, and those whose descriptor does not match its schema: the other files of their contracts can be checked too. */
  readonly subgraphs: readonly Subgraph[];
  readonly problems: readonly CompositionError[];
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
  const { services, problems } = readDescriptors(root);
  if (problems.length > 0) throw new DescriptorError(problems);
  return services;
}

export function readDescriptors(root: string): Descriptors {
  const folder = join(root, "services");
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  const read = names
    .filter((name) => existsSync(join(folder, name, descriptorName)))
    .map((name) => readDescriptor(root, `services/${name}`, name));
  const services = read.flatMap(({ service }) => service ?? []).toSorted((a, b) => a.port - b.port);
  const collisions = findCollisions(services).map(({ message, service }) => {
    const { toProblem } = read.find((one) => one.service === service) ?? {};
    return toProblem?.(message, ["port"]) ?? [];
  });
  return {
    services,
    subgraphs: [...services, ...read.flatMap(({ service, subgraph }) => (service ? [] : subgraph))],
    problems: [...read.flatMap(({ problems }) => problems), ...collisions.flat()],
  };
}

/** Of one folder anywhere, such as the contract in its team's repository. @throws DescriptorError with every problem. */
export function readServiceIn(folder: string): Service {
  const { service, problems } = readDescriptor("", folder);
  if (service === undefined || problems.length > 0) throw new DescriptorError(problems);
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

interface ReadDescriptor extends Pick<ContractFile, "toProblem"> {
  readonly subgraph: Subgraph;
  /** Undefined if the descriptor does not match its schema. */
  readonly service: Service | undefined;
  readonly problems: readonly CompositionError[];
}

/** @param name of the folder, which has to be that of the service; undefined: any name. */
function readDescriptor(root: string, folder: string, name?: string): ReadDescriptor {
  const file = `${folder}/${descriptorName}`;
  const { json, failure } = readJson(join(root, file));
  const ownName = textOf(memberOf(json, "name"));
  const owner = textOf(memberOf(json, "team"));
  const { toProblem } = openContractFile(root, file, { name: name ?? ownName, owner });
  // Code of a service is in src.
  const external = existsSync(join(root, folder, "src")) ? undefined : readExternal(memberOf(json, "external"));
  const subgraph = { name: name ?? ownName, folder, url: "http://127.0.0.1:0/graphql", owner, external };
  if (failure !== undefined) return { subgraph, service: undefined, problems: [toProblem(failure)], toProblem };
  const problems: CompositionError[] = [];
  const parsed = parseDescriptor(json, name ?? ownName, (message, path) => problems.push(toProblem(message, path)));
  // The folder may have another name than the descriptor.
  const service = parsed && name !== undefined ? { ...parsed, folder } : parsed;
  return { subgraph, service, problems, toProblem };
}

function readJson(file: string): { readonly json?: unknown; readonly failure?: string } {
  try {
    return { json: JSON.parse(readFileSync(file, "utf8")) };
  } catch (error) {
    return { failure: `is not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** For `npm run new:service`: the problems beside the other services, without file names. */
export function findDescriptorProblems(json: { readonly name: string }, others: readonly Service[]): readonly string[] {
  const problems: string[] = [];
  const service = parseDescriptor(json, json.name, (problem) => problems.push(problem));
  if (service === undefined || problems.length > 0) return problems;
  return findCollisions([...others, service]).map(({ message }) => message);
}

/** Its change feed's port is free too. */
export function findFreePort(services: readonly Service[]): number {
  const taken = new Set([...reservedPorts.keys(), ...services.flatMap(({ port, feedPort }) => [port, feedPort])]);
  let port = 4000;
  while (taken.has(port) || taken.has(feedPortOf(port))) port += 1;
  return port;
}

type ReportProblem = (message: string, path?: readonly (string | number)[]) => unknown;

/** Returns the service even with an unsuitable name, scope or port; nothing if the descriptor does not match its schema. */
function parseDescriptor(json: unknown, folder: string, report: ReportProblem): Service | undefined {
  const result = descriptor.safeParse(json);
  if (!result.success) {
    for (const issue of result.error.issues) {
      const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
      report(describeIssue(issue), [
        ...issue.path.map((key) => (typeof key === "symbol" ? String(key) : key)),
        ...keys,
      ]);
    }
    return undefined;
  }
  const { name, scopes, port, seed, external } = result.data;
  if (name !== folder)
    report(`name is "${name}", but the folder is services/${folder}. Give both the same name.`, ["name"]);
  if (reservedNames.has(name) || reservedPattern.test(name))
    report(`name "${name}" is reserved for another part of the platform. Choose another name.`, ["name"]);
  if (external && seed)
    report("seed is for a service whose code is in this repository: an external one seeds itself.", ["seed"]);
  if (external?.image !== undefined) findAddressProblems(external, result.data, report);
  const invalidScopes = Object.keys(scopes).filter((scope) => !isScopeOf(name, scope));
  for (const scope of invalidScopes) {
    const message = `scopes: "${scope}" has to begin with the service's name, such as ${name}:write or ${name}:write:all`;
    report(message, ["scopes", scope]);
  }
  const takenPorts = [port, feedPortOf(port)].filter((ownPort) => reservedPorts.has(ownPort));
  for (const taken of takenPorts)
    report(`port ${port}: ${taken} is the port of ${reservedPorts.get(taken)}. Choose another port.`, ["port"]);
  return toService(result.data);
}

/** Compose and the manifests give the container the name of the service, and the ports of every service. */
function findAddressProblems({ url, feedUrl }: External, { name, port }: Descriptor, report: ReportProblem): void {
  const expected = { url: `http://${name}:${port}`, feed: `http://${name}:${feedPortOf(port)}` };
  const reason = "since external.image runs there";
  if (url !== expected.url) report(`external.url has to be ${expected.url}, ${reason}`, ["external", "url"]);
  if (feedUrl !== undefined && feedUrl !== expected.feed)
    report(`external.feed has to be ${expected.feed}, ${reason}`, ["external", "feed"]);
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
    const unknown = issue.keys.map((key) => [...path, key].join("."));
    return `${unknown.join(", ")} is unknown. The fields are ${(path.length === 0 ? fields : externalMembers).join(", ")}.`;
  }
  return path.length === 0 ? "has to be a JSON object" : `${path.join(".")} ${message}`;
}

interface PortCollision {
  readonly message: string;
  /** The last one with this port. */
  readonly service: Service | undefined;
}

function findCollisions(services: readonly Service[]): readonly PortCollision[] {
  const listeners = services.flatMap((service) => [
    { service, port: service.port, listener: `${service.name} (${service.folder}/${descriptorName})` },
    { service, port: service.feedPort, listener: `the change feed of ${service.name} (its port plus 100)` },
  ]);
  const collisions = [...Map.groupBy(listeners, ({ port }) => port)].filter(([, { length }]) => length > 1);
  return collisions.map(([port, same]) => ({
    message: `${same.map(({ listener }) => listener).join(" and ")} have the same port ${port}. Change the port of one of them.`,
    service: same.at(-1)?.service,
  }));
}
