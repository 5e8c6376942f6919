/** The parts of an OpenAPI document that the pages show. Composition generates the document, so the proxy does not validate it. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Components;
}

export type NamedSchemas = Readonly<Record<string, Schema>>;

interface Components {
  readonly schemas: NamedSchemas;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly headers: Readonly<Record<string, HeaderObject>>;
}

export interface HeaderObject {
  readonly description?: string;
}

export interface ReferenceObject {
  readonly $ref: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  /** A token needs one of these scopes. */
  readonly "x-scopes"?: readonly string[];
  readonly parameters?: readonly (Parameter | ReferenceObject)[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
}

/** An operation with its place in the document. */
export interface PathOperation {
  /** In lower case. */
  readonly method: string;
  /** Below the server's URL, with parameters in braces. */
  readonly path: string;
  readonly operation: Operation;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, ReferenceObject | HeaderObject>>;
  readonly content?: Content;
}

/** A response with its status, such as "404". */
export type NumberedResponse = readonly [status: string, response: ResponseObject];

export type Content = Readonly<Record<string, MediaTypeObject>>;

interface MediaTypeObject {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

/** The subset of JSON Schema that the pages show. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly examples?: readonly unknown[];
}

export function operationsOf(document: OpenApi): readonly PathOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

/** The parameters of an operation, with references resolved. */
export function parametersOf({ components }: OpenApi, { parameters = [] }: Operation): readonly Parameter[] {
  return parameters.map((parameter) => resolveReference(parameter, components.parameters));
}

/** The responses of an operation by status, with references resolved. */
export function responsesOf({ components }: OpenApi, { responses }: Operation): readonly NumberedResponse[] {
  return Object.entries(responses).map(([status, response]) => [
    status,
    resolveReference(response, components.responses),
  ]);
}

/** An empty requirement in `security` means that a request without a token is accepted. */
export function requiresToken({ security }: Operation): boolean {
  return !security.some((requirement) => Object.keys(requirement).length === 0);
}

/** One paragraph of the document's description. */
export interface DescriptionSection {
  /** In Markdown. */
  readonly text: string;
  /** The bold words at the start; undefined for a paragraph without them. */
  readonly title: string | undefined;
  /** The fragment of its URL; undefined without a title. */
  readonly id: string | undefined;
}

const blankLines = /\n{2,}/;
/** Bold words at the start: of `**Errors.** Each …` group 1 is `Errors`. */
const boldStart = /^\*\*([^*]+?)\.?\*\*/;

export function sectionsOf({ info }: OpenApi): readonly DescriptionSection[] {
  return info.description.split(blankLines).map((text) => {
    const title = boldStart.exec(text)?.[1];
    if (title === undefined) return { text, title, id: undefined };
    return { text, title, id: `section-${title.toLowerCase().replaceAll(" ", "-")}` };
  });
}

/** @returns `part` itself, or the component that it refers to. @throws Error for an unknown component. */
function resolveReference<T extends object>(
  part: T | ReferenceObject,
  componentsByName: Readonly<Record<string, T>> | undefined,
): T {
  if (!("$ref" in part)) return part;
  const component = componentsByName?.[nameOf(part.$ref)];
  if (component === undefined) throw new Error(`${part.$ref} does not exist.`);
  return component;
}

/** The name of the component that a reference refers to: its part after the last slash. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}
