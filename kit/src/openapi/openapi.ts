import type { z } from "zod";
import type { ErrorCode } from "../errors/app-error.ts";
import type { RouteDeclaration } from "../rest/routes.ts";

export type ParameterSchemas = Readonly<Record<string, z.ZodType>>;

/** Headers that not every response has. `ETag`, `Location` and `Idempotency-Replayed` follow from the route and the status. */
export type HeaderName = "ETag" | "Last-Modified" | "Link" | "Location" | "Idempotency-Replayed";

/** Parameters are runtime expressions (OpenAPI 3.1, "Link Object"). */
export interface DocumentedLink {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** The 304 of a read is added automatically. */
export interface DocumentedResponse {
  readonly status: 200 | 201 | 204;
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly headers?: readonly ("Last-Modified" | "Link")[];
  readonly links?: Readonly<Record<string, DocumentedLink>>;
}

/** Or tokens with one of these scopes. */
export type PermittedCallers = "everyone" | readonly string[];

export type DemoUser = "ada" | "grace" | "linus";

/** Shown in the document and sent to the running service by a test. */
export interface OperationExample {
  readonly name: string;
  readonly summary: string;
  /** Undefined: the request is anonymous. */
  readonly as?: DemoUser;
  /** In addition to those of the demo user. */
  readonly scopes?: readonly string[];
  readonly path: string;
  /** An operation whose example is sent before. Its `Location` replaces the first two segments of `path`. */
  readonly follows?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Other values in members that must be unique, for tests. @param number a different one for each request. */
  readonly uniqueBody?: (number: number) => unknown;
  readonly response?: unknown;
  /** Names of properties, at any depth, whose values differ from run to run. */
  readonly varies?: readonly string[];
}

export interface OperationDocument {
  /** Markdown (CommonMark). */
  readonly description: string;
  readonly callers: PermittedCallers;
  readonly path?: ParameterSchemas;
  readonly query?: ParameterSchemas;
  readonly body?: z.ZodType;
  /** `required` is 428 without `If-Match`. */
  readonly ifMatch?: "required" | "optional";
  readonly response: DocumentedResponse;
  /** Besides those of every operation. */
  readonly problems?: readonly ErrorCode[];
  readonly examples: readonly OperationExample[];
}

/** By route id and version. */
export interface ServiceDocuments<R extends readonly RouteDeclaration[] = readonly RouteDeclaration[]> {
  readonly tag: { readonly name: string; readonly description: string };
  readonly operations: Readonly<Record<R[number]["id"], Readonly<Record<number, OperationDocument>>>>;
}
