/** The parts of an OpenAPI document that the pages show, as `completeDocument` makes them. */
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
}

export interface HeaderObject {
  readonly description?: string;
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
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The description; undefined if it only repeats the summary. */
export function detailsOf({ summary, description }: Operation): string | undefined {
  return description === `${summary}.` ? undefined : description;
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
  readonly headers: Readonly<Record<string, HeaderObject>>;
  readonly content?: Content;
}

/** A response with its status, such as "404". */
export type NumberedResponse = readonly [status: string, response: ResponseObject];

/** A status of 400 or more, all of them (`4XX`), or those that the document does not name (`default`). */
export function isError([status]: NumberedResponse): boolean {
  return /^[45]|^default$/.test(status);
}

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

/** An empty requirement in `security` means that a request without a token is accepted. */
export function requiresToken({ security }: Operation): boolean {
  return !security.some((requirement) => Object.keys(requirement).length === 0);
}

/** What a document's description says about one subject: a paragraph that begins with bold words, and those up to the next one. */
export interface DescriptionSection {
  /** The bold words. */
  readonly title: string;
  /** In Markdown, without bold words that end in a period. */
  readonly text: string;
}

const sectionStart = /\n{2,}(?=\*\*)/;
/** Of `**Errors.** Each …` group 1 is `Errors`, and group 2 is the period. */
const boldStart = /^\*\*([^*]+?)(\.?)\*\*/;

/** The paragraphs before the first section, and the sections. */
export function sectionsOf({ info }: OpenApi): {
  readonly introduction: string;
  readonly sections: readonly DescriptionSection[];
} {
  const parts = info.description.split(sectionStart);
  const introduction = parts.filter((text) => !boldStart.test(text)).join("\n\n");
  const sections = parts.flatMap((text) => {
    const [, title, period] = boldStart.exec(text) ?? [];
    if (title === undefined) return [];
    return [{ title, text: period === "" ? text : text.replace(boldStart, "").trim() }];
  });
  return { introduction, sections };
}

export interface OperationGroup {
  readonly name: string;
  /** In Markdown. */
  readonly description: string;
  readonly operations: readonly PathOperation[];
}

/** The operations by their first tag, in the order of the document's tags. */
export function groupsOf(document: OpenApi): readonly OperationGroup[] {
  const operations = operationsOf(document);
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags[0] === name),
  }));
}

/** The name of the component that a reference refers to: its part after the last slash. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}
