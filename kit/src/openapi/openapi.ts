import type { z } from "zod";
import type { ErrorCode } from "../errors/app-error.ts";
import type { RouteDeclaration } from "../rest/routes.ts";

/** Parameters by name; each schema says in its metadata what it is for. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** Headers that answers say beyond those that every answer has. */
export type HeaderName = "ETag" | "Last-Modified" | "Link" | "Location" | "Idempotency-Replayed";

/** Where an answer leads: another operation, with its parameters as runtime expressions (OpenAPI 3.1, "Link Object"). */
export interface DocumentedLink {
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** What the operation answers when it succeeds; the 304 of a read is known without being said. */
export interface DocumentedAnswer {
  readonly status: 200 | 201 | 204;
  readonly description: string;
  /** Of a body that is sent; left out, there is none. */
  readonly schema?: z.ZodType;
  readonly headers?: readonly HeaderName[];
  readonly links?: Readonly<Record<string, DocumentedLink>>;
}

/** Who may call: anybody, with a token or without, or whoever has one of these scopes. */
export type Callers = "everyone" | readonly string[];

/** The cast whom examples and tests know. */
export type CastMember = "ada" | "grace" | "linus";

/** A request that can be sent as it stands, and its answer. It is shown in the document, and run as a test. */
export interface Example {
  /** A name in camel case; one request and its answer share it. */
  readonly name: string;
  readonly summary: string;
  readonly as?: CastMember;
  /** Those that are needed beyond the cast's usual ones. */
  readonly scopes?: readonly string[];
  /** Path and query without the version, such as `/users/1`. */
  readonly path: string;
  /** An operation whose example makes the thing that this is about: `path` stands for its `Location`, and what follows it there. */
  readonly follows?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
  /** Names of properties whose values are others each time, anywhere in the answer. */
  readonly varies?: readonly string[];
}

/** What a team says about one of its routes in one version; method, path and caching are in the route's declaration. */
export interface OperationDocument {
  /** Markdown (CommonMark). */
  readonly description: string;
  readonly callers: Callers;
  readonly path?: Fields;
  readonly query?: Fields;
  readonly body?: z.ZodType;
  /** A change is refused without it (428), or honours it where it is sent. */
  readonly ifMatch?: "required" | "optional";
  readonly answer: DocumentedAnswer;
  /** Refusals of its own, beyond those that every operation knows. */
  readonly problems?: readonly ErrorCode[];
  readonly examples: readonly Example[];
}

/** What a service says of its routes: each version that a route is served in has its document, or composition fails. */
export interface ServiceDocuments<R extends readonly RouteDeclaration[] = readonly RouteDeclaration[]> {
  /** The chapter in which its operations stand. */
  readonly tag: { readonly name: string; readonly description: string };
  readonly operations: Readonly<Record<R[number]["id"], Readonly<Record<number, OperationDocument>>>>;
}
