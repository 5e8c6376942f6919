// The operations of an external service in the platform's document: as its tool describes them, with what the REST proxy adds to every route.
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import { sample } from "openapi-sampler";
import type { Contract } from "../contract/contract.ts";
import {
  type ContractOperation,
  idOf,
  readOperations,
  requirementsOf,
  scopesOf,
} from "../contract/contract-operations.ts";
import { entriesOf, memberOf, resolveReference, textOf } from "../contract/json-members.ts";
import type { Components } from "./openapi-components.ts";
import { addPlatformResponses, parametersOfEveryRequest } from "./openapi-operation.ts";

/** Names in `components/schemas`, with their schemas. */
export type TakenSchemas = Map<string, unknown>;

export interface DocumentedOperation {
  readonly template: string;
  readonly method: string;
  readonly operation: Json;
}

const schemaPrefix = "#/components/schemas/";

/** @param taken gets the schemas to which the operations refer. One whose name is taken is renamed: `Review` of reviews to `ReviewsReview`. */
export function writeContractOperations(
  contract: Contract,
  version: number,
  { components, taken }: { readonly components: Components; readonly taken: TakenSchemas },
): readonly DocumentedOperation[] {
  const copy = createCopier(contract, taken);
  const operations = readOperations(contract).filter((operation) => operation.version === version);
  return operations.map((operation) => ({
    template: operation.template,
    method: operation.method.toLowerCase(),
    operation: writeOperation(contract, operation, { copy, components }),
  }));
}

/** `line-items` is Line items, as the platform's own tags are spelled. */
export function tagOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

interface WritingContext {
  readonly copy: (value: unknown) => Json;
  readonly components: Components;
}

const copiedMembers = ["description", "deprecated"] as const;
/** The platform's own declarations of these headers say more. */
const platformHeaders = new Set(["if-none-match", "consistency-token", "authorization"]);

function writeOperation(
  { name, document }: Contract,
  source: ContractOperation,
  { copy, components }: WritingContext,
): Json {
  const { operation, method, parameters, settings } = source;
  const copied = copiedMembers.filter((member) => Object.hasOwn(operation, member));
  const summary = textOf(operation["summary"]) || idOf(source);
  const isOwn = (parameter: Json) =>
    parameter["in"] !== "header" || !platformHeaders.has(String(parameter["name"]).toLowerCase());
  const body = resolveReference(document, operation["requestBody"]);
  const responses = Object.fromEntries(
    entriesOf(operation["responses"]).map(([status, response]) => {
      const resolved = resolveReference(document, response);
      const content = memberOf(resolved, "content");
      const ownResponse = copy(resolved);
      if (!isJsonObject(content)) return [status, ownResponse] as const;
      const described = describeContent(content, { document, copy, needsExample: /^[23]/.test(status) });
      return [status, { ...ownResponse, content: described }] as const;
    }),
  );
  const isRead = method === "GET";
  const scopes = scopesOf(document, operation);
  return {
    operationId: idOf(source),
    summary,
    description: `${summary}.`,
    ...Object.fromEntries(copied.map((member) => [member, copy(operation[member])])),
    tags: [tagOf(name)],
    security: needsToken(document, operation) ? [{ bearer: [] }] : [{}, { bearer: [] }],
    ...(scopes.length === 0 ? {} : { "x-scopes": [...scopes] }),
    parameters: [
      ...parameters.filter(isOwn).map((parameter) => describeParameter(copy(parameter))),
      ...parametersOfEveryRequest(isRead, components),
    ],
    ...(isJsonObject(body) ? { requestBody: describeBody(document, body, copy) } : {}),
    responses: addPlatformResponses(responses, {
      isRead,
      acceptsKey: settings.idempotencyKey !== undefined,
      components,
    }),
  };
}

/** In the form of the platform's own parameters: with a schema, which has the examples. */
function describeParameter({ example, examples, schema = {}, ...members }: Json): Json {
  const values = [
    ...(example === undefined ? [] : [example]),
    ...entriesOf(examples).map(([, item]) => memberOf(item, "value")),
  ];
  return {
    required: false,
    ...members,
    schema: values.length === 0 ? schema : { ...(schema as Json), examples: values },
  };
}

function describeBody(document: unknown, body: Json, copy: (value: unknown) => Json): Json {
  const content = describeContent(body["content"], { document, copy, needsExample: true });
  return { required: true, ...copy(body), content };
}

interface ContentContext extends Pick<WritingContext, "copy"> {
  readonly document: unknown;
  /** For the reference and its form "Try it": without an example, values are made from the schema. */
  readonly needsExample: boolean;
}

/** In the form of the platform's own: with a schema, and examples with summaries. */
function describeContent(content: unknown, { document, copy, needsExample }: ContentContext): Json {
  return Object.fromEntries(
    entriesOf(content).map(([type, media]) => {
      const { schema = {}, example, examples, ...members } = copy(media);
      const named = example === undefined ? entriesOf(examples) : [["example", { value: example }] as const];
      const described = named.map(([name, item]): [string, Json] => [name, { summary: name, ...(item as Json) }]);
      if (named.length === 0 && needsExample) {
        const value: unknown = sample(memberOf(media, "schema") ?? {}, { quiet: true }, document as object);
        described.push(["made", { summary: "From the schema", value }]);
      }
      return [
        type,
        { ...members, schema, ...(described.length === 0 ? {} : { examples: Object.fromEntries(described) }) },
      ];
    }),
  );
}

/** OpenAPI 3.1, 4.8.30: an empty requirement makes the others optional. */
function needsToken(document: unknown, operation: Json): boolean {
  const requirements = requirementsOf(document, operation);
  return requirements.length > 0 && requirements.every((requirement) => entriesOf(requirement).length > 0);
}

function createCopier({ name, document }: Contract, taken: TakenSchemas): (value: unknown) => Json {
  const names = new Map<string, string>();
  const prefix = name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

  function addSchema(schemaName: string): string {
    const known = names.get(schemaName);
    if (known !== undefined) return known;
    const schema = resolveReference(document, { $ref: `${schemaPrefix}${schemaName}` });
    let newName = schemaName;
    while (taken.has(newName)) newName = `${prefix}${newName}`;
    // Before the copy, as schemas may refer to each other.
    names.set(schemaName, newName);
    taken.set(newName, undefined);
    taken.set(newName, copy(schema));
    return newName;
  }

  function copy(value: unknown): Json {
    // Of `$ref`, or of `discriminator.mapping`.
    if (isSchemaReference(value))
      return `${schemaPrefix}${addSchema(value.slice(schemaPrefix.length))}` as unknown as Json;
    if (Array.isArray(value)) return value.map(copy) as unknown as Json;
    if (!isJsonObject(value)) return value as Json;
    // In an example, `$ref` may be data.
    const target = isSchemaReference(value["$ref"]) ? value : (resolveReference(document, value) ?? value);
    if (target !== value) return copy(target);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member)]));
  }

  return copy;
}

function isSchemaReference(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(schemaPrefix);
}
