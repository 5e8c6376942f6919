// How a service documents its REST routes, in its rest/openapi.ts. supergraph/documents/ builds the OpenAPI documents from it.
import type { z } from "zod";
import type { ErrorCode } from "../errors/app-error.ts";
import type { RouteDeclaration } from "../rest/routes.ts";

/** Parameters by name. The metadata of each schema contains its description. */
export type ParameterSchemas = Readonly<Record<string, z.ZodType>>;

/** Response headers that not every response has. */
export type HeaderName = "ETag" | "Last-Modified" | "Link" | "Location" | "Idempotency-Replayed";

/** A link from a response to another operation, with its parameters as runtime expressions (OpenAPI 3.1, "Link Object"). */
export interface DocumentedLink {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** The successful response of an operation. The 304 of a read is added automatically. */
export interface DocumentedResponse {
  readonly status: 200 | 201 | 204;
  readonly description: string;
  /** Of the body; undefined for a response without body. */
  readonly schema?: z.ZodType;
  readonly headers?: readonly HeaderName[];
  readonly links?: Readonly<Record<string, DocumentedLink>>;
}

/** The allowed callers: everyone, with or without a token, or tokens with one of these scopes. */
export type PermittedCallers = "everyone" | readonly string[];

/** The demo users of examples and tests. */
export type DemoUser = "ada" | "grace" | "linus";

/** A request and its response, shown in the document and sent to the running service by a test. */
export interface OperationExample {
  /** In camel case; the name of the request example and of the response example. */
  readonly name: string;
  readonly summary: string;
  /** The user whose token the request has. Undefined: the request is anonymous. */
  readonly as?: DemoUser;
  /** Scopes that the token needs in addition to those that the demo user has. */
  readonly scopes?: readonly string[];
  /** Path and query without the version, such as `/users/1`. */
  readonly path: string;
  /**
   * The id of an operation whose example is sent before this one and creates its resource. The `Location` of that response replaces the first two
   * segments of `path`.
   */
  readonly follows?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /**
   * The body with other values in members that must be unique, for tests, which send an example several times.
   * @param number a different one for each request.
   */
  readonly uniqueBody?: (number: number) => unknown;
  readonly status: number;
  readonly response?: unknown;
  /** Names of properties, at any depth of the response, whose values differ from run to run. */
  readonly varies?: readonly string[];
}

/** The documentation of one route in one version. Method, path and caching come from the route's declaration. */
export interface OperationDocument {
  /** Markdown (CommonMark). */
  readonly description: string;
  readonly callers: PermittedCallers;
  readonly path?: ParameterSchemas;
  readonly query?: ParameterSchemas;
  /** Of the request. */
  readonly body?: z.ZodType;
  /** Of a change: `required` is 428 without `If-Match`; `optional` evaluates it if it is sent. */
  readonly ifMatch?: "required" | "optional";
  readonly response: DocumentedResponse;
  /** Error codes besides those of every operation. */
  readonly problems?: readonly ErrorCode[];
  readonly examples: readonly OperationExample[];
}

/** The documentation of a service's routes, by route id and version. The documents cannot be built if a version of a route has none. */
export interface ServiceDocuments<R extends readonly RouteDeclaration[] = readonly RouteDeclaration[]> {
  /** The OpenAPI tag of its operations. */
  readonly tag: { readonly name: string; readonly description: string };
  readonly operations: Readonly<Record<R[number]["id"], Readonly<Record<number, OperationDocument>>>>;
}
