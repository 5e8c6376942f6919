// The operations of an external service in the platform's document: as its tool describes them, with what the REST proxy adds to every route.
import { isDeepStrictEqual } from "node:util";
import type { Json } from "@tributary/kit/json/json";
import { sample } from "openapi-sampler";
import type { Contract } from "../contract/contract.ts";
import { type ContractOperation, idOf, readOperations, resolveReference } from "../contract/contract-operations.ts";
import { entriesOf, isRecord, type JsonRecord, listOf, memberOf, textOf } from "../contract/json-record.ts";
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

/** @param taken gets the schemas to which the operations refer. Another one with the same name is renamed: `Review` of reviews to `ReviewsReview`. */
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
  const summary = textOf(operation["summary"]);
  const isOwn = (parameter: JsonRecord) =>
    parameter["in"] !== "header" || !platformHeaders.has(String(parameter["name"]).toLowerCase());
  const body = resolveReference(document, operation["requestBody"]);
  const responses = Object.fromEntries(
    entriesOf(operation["responses"]).map(([status, response]) => {
      const resolved = resolveReference(document, response);
      const content = memberOf(resolved, "content");
      const copied = copy(resolved);
      if (!isRecord(content)) return [status, copied] as const;
      const described = describeContent(content, { document, copy, needsExample: /^[23]/.test(status) });
      return [status, { ...copied, content: described }] as const;
    }),
  );
  const isRead = method === "GET";
  return {
    operationId: idOf(source),
    summary,
    description: `${summary}.`,
    ...describeCallers(document, operation),
    ...Object.fromEntries(copied.map((member) => [member, copy(operation[member])])),
    tags: [tagOf(name)],
    parameters: [
      ...parameters.filter(isOwn).map((parameter) => describeParameter(copy(parameter))),
      ...parametersOfEveryRequest(isRead, components),
    ],
    ...(isRecord(body) ? { requestBody: describeBody(document, body, copy) } : {}),
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

function describeBody(document: unknown, body: JsonRecord, copy: (value: unknown) => Json): Json {
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

/** OpenAPI 3.1, 4.8.30: one of the requirements suffices, so an empty one makes the others optional. `x-scopes` are alternatives, too. */
function describeCallers(document: unknown, operation: JsonRecord): Json {
  const requirements = listOf(operation["security"] ?? memberOf(document, "security")).map(entriesOf);
  const needsToken = requirements.length > 0 && requirements.every((schemes) => schemes.length > 0);
  if (!needsToken) return { security: [{}, { bearer: [] }] };
  const scopes = requirements.map((schemes) => schemes.flatMap(([, names]) => listOf(names)).join(" "));
  return { security: [{ bearer: [] }], "x-scopes": [...new Set(scopes)].filter((scope) => scope !== "") };
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
    // The names first, as a schema may refer to itself.
    names.set(schemaName, schemaName);
    const isTaken = taken.has(schemaName) && !isDeepStrictEqual(taken.get(schemaName), copy(schema));
    const newName = isTaken ? `${prefix}${schemaName}` : schemaName;
    names.set(schemaName, newName);
    taken.set(newName, copy(schema));
    return newName;
  }

  function copy(value: unknown): Json {
    if (Array.isArray(value)) return value.map(copy) as unknown as Json;
    if (!isRecord(value)) return value as Json;
    const reference = value["$ref"];
    if (typeof reference === "string") {
      if (reference.startsWith(schemaPrefix))
        return { ...copyMembers(value), $ref: `${schemaPrefix}${addSchema(reference.slice(schemaPrefix.length))}` };
      return copy(resolveReference(document, value));
    }
    return copyMembers(value);
  }

  function copyMembers(value: JsonRecord): Json {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== "$ref")
        .map(([key, member]) => [key, copy(member)]),
    );
  }

  return copy;
}
