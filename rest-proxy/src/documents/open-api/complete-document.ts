// What an OpenAPI document may leave out or refer to: documents of other frameworks lack much of what those that composition generates have.
import { ConfigError } from "@tributary/kit/process/env";
import type { Content, NumberedResponse, OpenApi, Operation, Parameter, Schema } from "./open-api.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const methods: ReadonlySet<string> = new Set(["get", "put", "post", "delete", "options", "head", "patch", "trace"]);
/** The group of operations without a tag. */
const untagged = "Operations";

/** For the pages; programs get the document as it is. @throws ConfigError for a document that is not of OpenAPI 3. */
export function completeDocument(json: unknown, version: number): OpenApi {
  const document = toObject(json);
  if (!toText(document.openapi).startsWith("3."))
    throw new ConfigError([`OPENAPI_FOLDER: v${version}.json is not a document of OpenAPI 3 (\`"openapi": "3.…"\`)`]);
  const info = toObject(document.info);
  const components = toObject(document.components);
  const paths = Object.entries(toObject(document.paths)).flatMap(([path, item]) =>
    path.startsWith("/") ? [[path, completeItem(path, item, document)] as const] : [],
  );
  const operations = paths.flatMap(([, item]) => Object.values(item));
  return {
    info: {
      title: toText(info.title) || "REST API",
      version: toText(info.version),
      description: toText(info.description),
    },
    // Whatever the service's own address is: clients send their requests to the proxy.
    servers: [{ url: `/v${version}` }],
    tags: completeTags(document, operations),
    paths: Object.fromEntries(paths),
    components: { schemas: toObject(components.schemas) as OpenApi["components"]["schemas"] },
  };
}

/** The operations of a path, each with the parameters of the path. */
function completeItem(path: string, part: unknown, document: JsonObject): Readonly<Record<string, Operation>> {
  const item = resolve(part, document);
  return Object.fromEntries(
    Object.entries(item).flatMap(([method, operation]) => {
      if (!methods.has(method)) return [];
      const { parameters = [], ...own } = toObject(operation);
      const all = [...toList(item.parameters), ...toList(parameters)];
      return [[method, completeOperation({ method, path, operation: { ...own, parameters: all } }, document)] as const];
    }),
  );
}

function completeOperation(
  { method, path, operation }: { readonly method: string; readonly path: string; readonly operation: JsonObject },
  document: JsonObject,
): Operation {
  const summary = toText(operation.summary) || `${method.toUpperCase()} ${path}`;
  const tags = toList(operation.tags).filter((tag) => typeof tag === "string");
  const security = toList(operation.security ?? document.security) as Operation["security"];
  const { requestBody, ...rest } = operation;
  const responses = Object.entries(toObject(operation.responses)).map(([status, part]): NumberedResponse => {
    const response = resolve(part, document);
    const headers = Object.entries(toObject(response.headers)).map(
      ([name, header]) => [name, resolve(header, document)] as const,
    );
    return [
      status,
      {
        description: toText(response.description),
        headers: Object.fromEntries(headers),
        content: completeContent(response.content, document),
      },
    ];
  });
  return {
    ...rest,
    operationId: toText(operation.operationId) || `${method}${path.replaceAll(/[^\p{L}\p{N}]+/gu, "-")}`,
    summary,
    description: toText(operation.description) || `${summary}.`,
    tags: tags.length === 0 ? [untagged] : tags,
    // Without any requirement, a request needs no token.
    security: security.length === 0 ? [{}] : security,
    parameters: completeParameters(toList(operation.parameters), document),
    responses: Object.fromEntries(responses),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { content: completeContent(resolve(requestBody, document).content, document) } }),
  };
}

/** A parameter of the operation replaces that of its path. */
function completeParameters(parts: readonly unknown[], document: JsonObject): readonly Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const part of parts) {
    const parameter = resolve(part, document);
    const [content] = Object.values(completeContent(parameter.content, document));
    const schema = (parameter.schema === undefined ? (content?.schema ?? {}) : toObject(parameter.schema)) as Schema;
    const example = parameter.example ?? toObject(schema).example;
    parameters.set(`${toText(parameter.in)} ${toText(parameter.name)}`, {
      ...(parameter as unknown as Parameter),
      required: parameter.required === true,
      schema: schema.examples === undefined && example !== undefined ? { ...schema, examples: [example] } : schema,
    });
  }
  return [...parameters.values()];
}

function completeContent(part: unknown, document: JsonObject): Content {
  const content = Object.entries(toObject(part)).map(([type, value]) => {
    const media = toObject(value);
    const examples = Object.entries(toObject(media.examples)).map(([name, reference]) => {
      const example = resolve(reference, document);
      return [name, { summary: toText(example.summary) || name, value: example.value }] as const;
    });
    if (media.example !== undefined) examples.push(["example", { summary: "example", value: media.example }]);
    return [type, { schema: toObject(media.schema), examples: Object.fromEntries(examples) }] as const;
  });
  return Object.fromEntries(content);
}

/** Those of the document, then those that only operations have. */
function completeTags(document: JsonObject, operations: readonly Operation[]): OpenApi["tags"] {
  const tags = new Map<string, string>();
  for (const tag of toList(document.tags).map(toObject)) tags.set(toText(tag.name), toText(tag.description));
  for (const [tag = untagged] of operations.map((operation) => operation.tags)) if (!tags.has(tag)) tags.set(tag, "");
  return [...tags].map(([name, description]) => ({ name, description }));
}

/** `part` itself, or what it refers to within the document. @throws ConfigError if there is none. */
function resolve(part: unknown, document: JsonObject): JsonObject {
  const seen = new Set<unknown>();
  let object = toObject(part);
  while (typeof object.$ref === "string") {
    const found = object.$ref.startsWith("#/") && !seen.has(object) ? find(object.$ref, document) : undefined;
    if (found === undefined)
      throw new ConfigError([`OPENAPI_FOLDER: ${object.$ref} does not exist in the OpenAPI document`]);
    seen.add(object);
    object = toObject(found);
  }
  return object;
}

function find(reference: string, document: JsonObject): unknown {
  let value: unknown = document;
  for (const segment of reference.slice(2).split("/")) {
    const key = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    value = toObject(value)[key];
  }
  return value;
}

function toObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
