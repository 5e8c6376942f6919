// Requests that are valid by the contract: examples of its OpenAPI document, values made from its schemas, and ids of its own lists.
import { randomUUID } from "node:crypto";
import { isJsonObject } from "@tributary/kit/json/json";
import { entriesOf, listOf, memberOf, resolveReference } from "../../supergraph/contract/json-members.ts";
import { findRoutePath, joinServicePath } from "../../supergraph/contract/rest-paths.ts";
import { exampleOf } from "../start/substitute/openapi-example.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestOptions, RestOperation, Subject } from "./subject.ts";

/** A read that responds with 200. */
export interface Readable {
  readonly operation: RestOperation;
  readonly path: string;
  readonly as: number | undefined;
  readonly exchange: Exchange;
}

export interface Created {
  readonly operation: RestOperation;
  /** Of `Location`, at the service. */
  readonly path: string;
  readonly as: number;
  readonly exchange: Exchange;
}

/** A user of the seeded data of this repository's services. */
export const firstUser = 1;

export function describeOperation({ method, servicePath }: RestOperation): string {
  return `${method} ${servicePath}`;
}

export function operationsOf(subject: Subject, method: string): readonly RestOperation[] {
  return subject.operations.filter((operation) => operation.method === method);
}

export function hasParameter({ parameters }: RestOperation, where: string, name: string): boolean {
  return parameters.some((one) => one["in"] === where && String(one["name"]).toLowerCase() === name.toLowerCase());
}

/** Undefined if no id is found for which it responds with 200. */
export function findReadable(subject: Subject, operation: RestOperation): Promise<Readable | undefined> {
  return subject.remember(operation, async () => {
    const callers = subject.issuer === undefined ? [undefined] : [undefined, firstUser];
    for (const path of await listPaths(subject, operation)) {
      for (const as of callers) {
        const exchange = await subject.send("GET", path, { as });
        if (exchange.status === 200) return { operation, path, as, exchange };
      }
    }
    const creation = findCreation(subject, operation);
    const created = creation && (await createExample(subject, creation));
    if (!created) return undefined;
    const { path, as } = created;
    const exchange = await subject.send("GET", path, { as });
    return exchange.status === 200 ? { operation, path, as, exchange } : undefined;
  });
}

/** Of all reads, and the reasons why others are not used. */
export async function findReadables(subject: Subject, skip: (reason: string) => void): Promise<readonly Readable[]> {
  const found: Readable[] = [];
  if (operationsOf(subject, "GET").length === 0) skip("the contract has no REST route that reads");
  for (const operation of operationsOf(subject, "GET")) {
    const readable = await findReadable(subject, operation);
    if (readable) found.push(readable);
    else skip(`${describeOperation(operation)}: no id for which it responds with 200. Give the parameter an example`);
  }
  return found;
}

/** Paths with ids of its list, with examples of the parameter, or with "1". One path for a route without a parameter. */
async function listPaths(subject: Subject, operation: RestOperation): Promise<readonly string[]> {
  const [, name] = /\{([^}]*)\}/.exec(operation.template) ?? [];
  if (name === undefined) return [toPath(operation)];
  const list = operationsOf(subject, "GET").find((one) => isCollectionOf(one, operation));
  const readable = list && (await findReadable(subject, list));
  const [item] = readable ? itemsOf(readable.exchange) : [];
  const id = memberOf(item, name) ?? memberOf(item, "id");
  const ids = [id, ...examplesOf(operation, name), "1"].filter((value) => typeof value === "string");
  return ids.map((value) => toPath(operation, () => value));
}

function examplesOf({ document, parameters }: RestOperation, name: string): readonly unknown[] {
  const parameter = parameters.find((one) => one["in"] === "path" && one["name"] === name);
  const schema = resolveReference(document, memberOf(parameter, "schema"));
  const named = entriesOf(memberOf(parameter, "examples")).map(([, example]) => memberOf(example, "value"));
  return [
    memberOf(parameter, "example"),
    ...named,
    memberOf(schema, "example"),
    ...listOf(memberOf(schema, "examples")),
  ];
}

export function toPath({ servicePath }: RestOperation, valueOf: (name: string) => string = () => "1"): string {
  return servicePath.replaceAll(/\{([^}]*)\}/g, (_, name: string) => encodeURIComponent(valueOf(name)));
}

/** `/posts` of `/posts/{id}`. */
function isCollectionOf({ version, template }: RestOperation, item: RestOperation): boolean {
  return (
    version === item.version && template !== item.template && template === item.template.replace(/\/\{[^}]*\}$/, "")
  );
}

/** `POST /posts` of `PATCH /posts/{id}`. */
export function findCreation(subject: Subject, item: RestOperation): RestOperation | undefined {
  return operationsOf(subject, "POST").find((one) => isCollectionOf(one, item));
}

export function itemsOf({ json }: Exchange): readonly unknown[] {
  return listOf(Array.isArray(json) ? json : memberOf(json, "data"));
}

/** Undefined if the operation has none. */
export function bodyOf({ operation, document }: RestOperation) {
  const [entry] = entriesOf(memberOf(resolveReference(document, operation["requestBody"]), "content"));
  if (entry === undefined) return undefined;
  const [type, media] = entry;
  return { type, value: withUniqueAddresses(exampleOf(media, document, { ofRequest: true }) ?? {}) };
}

/** A mail address is often unique. */
function withUniqueAddresses(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/^[^@\s]+(?=@[^@\s]+\.\w+$)/, () => `conform-${randomUUID()}`);
  if (Array.isArray(value)) return value.map(withUniqueAddresses);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withUniqueAddresses(member)]));
}

/** The options of a valid request of a write. An idempotency key is new, so that the request is not a repetition. */
export function toRequest(operation: RestOperation, as: number): RequestOptions {
  const body = bodyOf(operation);
  const key = operation.settings.idempotencyKey === undefined ? {} : { "idempotency-key": randomUUID() };
  if (body === undefined) return { as, headers: key };
  return { as, headers: { "content-type": body.type, ...key }, body: JSON.stringify(body.value) };
}

/** Sends the example of a route that creates a resource. */
export async function sendExample(subject: Subject, operation: RestOperation) {
  const as = subject.nextUser();
  const exchange = await subject.send("POST", toPath(operation), toRequest(operation, as));
  return { as, exchange };
}

/** Undefined if the service rejects the example. The same one for all rules. */
export function createExample(subject: Subject, operation: RestOperation): Promise<Created | undefined> {
  if (subject.issuer === undefined) return Promise.resolve(undefined);
  return subject.remember(operation, async () => {
    const { as, exchange } = await sendExample(subject, operation);
    const location = exchange.headers["location"];
    if (exchange.status !== 201 || location === undefined) return undefined;
    return { operation, path: toServicePath(location, subject), as, exchange };
  });
}

/** The users who have created what the examples of all routes describe. */
export async function createExamples(subject: Subject): Promise<readonly number[]> {
  const created = await Promise.all(listCreations(subject).map((operation) => createExample(subject, operation)));
  return created.flatMap((one) => (one ? [one.as] : []));
}

export function listCreations(subject: Subject): readonly RestOperation[] {
  return operationsOf(subject, "POST").filter(({ template }) => !template.includes("{"));
}

/** Links and `Location` have public paths; with another prefix than the default one they may have the service's own. */
export function toServicePath(link: string, { rest }: Pick<Subject, "rest">): string {
  const { pathname, search } = new URL(link, "http://service");
  const [, version, path] = /^\/v(\d+)(\/.*)$/.exec(pathname) ?? [];
  const isOwn = rest.prefix !== "" && findRoutePath(pathname, rest) !== undefined;
  if (isOwn || path === undefined) return pathname + search;
  return joinServicePath(path, Number(version), rest) + search;
}
