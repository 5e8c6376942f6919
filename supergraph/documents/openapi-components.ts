import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { HeaderName } from "@tributary/kit/openapi/openapi";
import { problemExplanations } from "@tributary/kit/openapi/problems";
import { problemNameOf, problemTypeOf, toProblemDocument } from "@tributary/kit/http/problem";
import type { Json } from "@tributary/kit/json/json";
import { compare } from "../routes/routes.ts";

type SharedHeader =
  | HeaderName
  | "Consistency-Token"
  | "X-Request-Id"
  | "traceparent"
  | "API-Version"
  | "Access-Control-Allow-Origin"
  | "Cache-Control"
  | "RateLimit"
  | "RateLimit-Policy"
  | "WWW-Authenticate"
  | "Retry-After";

type SharedParameter =
  | "ConsistencyToken"
  | "IfNoneMatch"
  | "IfMatch"
  | "OptionalIfMatch"
  | "IdempotencyKey"
  | "OptionalIdempotencyKey";

/** Each method that returns a `$ref` also adds the component, so that the document contains no unused one. */
export interface Components {
  parameter(name: SharedParameter): Json;
  headers(...names: readonly SharedHeader[]): Json;
  /** @param codes with the same HTTP status. */
  problem(codes: readonly ErrorCode[]): Json;
  /** Call it after the last operation. */
  used(): Readonly<Record<"headers" | "parameters" | "responses" | "schemas", Json>>;
}

export function createComponents(): Components {
  const headers = new Map<string, Json>();
  const parameters = new Map<string, Json>();
  const responses = new Map<string, Json>();

  const components: Components = {
    parameter(name) {
      parameters.set(name, sharedParameters[name]);
      return { $ref: `#/components/parameters/${name}` };
    },
    headers(...names) {
      for (const name of names) headers.set(name, sharedHeaders[name]);
      return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
    },
    problem(codes) {
      const name = codes.map(toComponentName).join("Or");
      if (!responses.has(name)) responses.set(name, toResponse(components, codes));
      return { $ref: `#/components/responses/${name}` };
    },
    used: () => ({
      headers: sortKeys(headers),
      parameters: sortKeys(parameters),
      responses: sortKeys(responses),
      schemas: { Problem: problemSchema(bodyErrors), QueryProblem: problemSchema(queryErrors) },
    }),
  };
  return components;
}

export function sortKeys(members: Iterable<readonly [string, unknown]>): Json {
  return Object.fromEntries([...members].toSorted(([a], [b]) => compare(a, b)));
}

function toComponentName(code: ErrorCode): string {
  return problemNameOf(code).replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toResponse(components: Components, codes: readonly ErrorCode[]): Json {
  const [firstCode] = codes;
  const status = firstCode === undefined ? 500 : statusOf[firstCode];
  const meanings = codes.map(
    (code) => `[\`${problemNameOf(code)}\`](${problemTypeOf(code)}): ${problemExplanations[code].means}`,
  );
  const examples = codes.map((code) => {
    const { means } = problemExplanations[code];
    return [
      problemNameOf(code),
      { summary: means, value: toProblemDocument(new AppError(code, means), exampleRequest) },
    ];
  });
  return {
    description: meanings.join("\n\n"),
    headers: components.headers(...headersOfEveryResponse, ...(headersOfStatus[status] ?? [])),
    content: {
      "application/problem+json": {
        schema: { $ref: `#/components/schemas/${status === 400 ? "QueryProblem" : "Problem"}` },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const exampleRequest = { requestId: "0198c4a5-8c00-7c1d-9f3a-2b6d7e8f9a0b" };
/** The last two are sent only to callers with a rate limit. */
export const headersOfEveryResponse: readonly SharedHeader[] = [
  "X-Request-Id",
  "traceparent",
  "API-Version",
  "Access-Control-Allow-Origin",
  "Cache-Control",
  "RateLimit-Policy",
  "RateLimit",
];

/** A 409 or a 412 responds to a write, so it can have a receipt. A 404 or a 410 can also respond to a read, which gets none. */
const headersOfStatus: Readonly<Record<number, readonly SharedHeader[]>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  409: ["Consistency-Token"],
  412: ["Consistency-Token"],
  429: ["Retry-After"],
  502: ["Retry-After"],
  503: ["Retry-After"],
};

function problemEntry(location: "pointer" | "parameter", schema: Json): Json {
  return {
    type: "object",
    properties: {
      [location]: schema,
      code: { type: "string", maxLength: 64, pattern: "^[a-z][a-z0-9_]*$", description: "The violated rule." },
      detail: textSchema(1_024, "The violated rule, in human-readable form."),
    },
    required: [location, "code", "detail"],
    additionalProperties: false,
  };
}

/** RFC 9457, 3.1, with the extension members requestId, choices and errors. */
function problemSchema(errors: Json): Json {
  return {
    type: "object",
    description: "A problem details object (RFC 9457).",
    properties: {
      type: {
        type: "string",
        format: "uri-reference",
        maxLength: 64,
        pattern: "^/problems/[a-z]+(?:-[a-z]+)*$",
        description: "The problem type: the URL of a page that explains it.",
      },
      title: textSchema(64, "The problem type's name."),
      status: { type: "integer", format: "int32", minimum: 400, maximum: 599, description: "The HTTP status code." },
      detail: textSchema(4_096, "Explains what is wrong with this request, in human-readable form."),
      instance: {
        type: "string",
        format: "uri-reference",
        maxLength: 16_384,
        description:
          "The path of the request, without the query, as that may be secret. A service adds the version to a path without one.",
      },
      requestId: textSchema(128, "The request's id in the server's logs."),
      choices: {
        type: "array",
        // Two media types for each version (at most 999), and one for the default version.
        maxItems: 2_000,
        description: "With 406: the media types of this path, for `Accept`.",
        items: text(64, "^application/[a-z0-9.+;=]+$"),
      },
      errors,
    },
    required: ["type", "title", "status", "detail"],
    additionalProperties: false,
  };
}

/** With 409 and 422. A body of 64 KiB cannot contain more invalid names. */
const bodyErrors: Json = {
  type: "array",
  maxItems: 16_384,
  description: "All problems of the body.",
  items: problemEntry("pointer", textSchema(262_144, "A JSON Pointer into the body, as a URI fragment (RFC 6901, 6).")),
};

const queryErrors: Json = {
  type: "array",
  maxItems: 110,
  description: "All invalid query parameters. Absent if another part of the request is malformed, such as the body.",
  items: problemEntry("parameter", textSchema(64, "The parameter's name, truncated to 64 characters.")),
};

function text(maxLength: number, pattern: string): Json {
  return { type: "string", maxLength, pattern };
}

function textSchema(maxLength: number, description: string): Json {
  return { ...text(maxLength, String.raw`^[^\u0000-\u0008]*$`), description };
}

function header(description: string, schema: Json): Json {
  return { description, schema };
}

/** Only documented: kit/src/consistency/receipts.ts accepts longer receipts. A receipt with writes to four services has 206 characters. */
const receiptCharsMax = 1_024;
const receiptsMax = 8;
const receiptPattern = '"[A-Za-z0-9_-]+"';

const printablePattern = String.raw`^[\t\x20-\x7E]*$`;
const etag = header(
  "A strong validator (RFC 9110, 8.8.3): it changes whenever the representation changes.",
  text(256, String.raw`^"[\x21\x23-\x7E]+"$`),
);

const sharedHeaders: Readonly<Record<SharedHeader, Json>> = {
  "Consistency-Token": header(
    "The receipt of the write: a list of one string (RFC 9651). Send it unchanged with the requests that follow. See **Freshness** in the description of this API.",
    text(receiptCharsMax, `^${receiptPattern}$`),
  ),
  ETag: etag,
  "Last-Modified": header(
    "Time of the last change. Sent no earlier than one minute after the change.",
    text(29, "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$"),
  ),
  Link: header(
    "URLs of the first and the adjacent pages (RFC 8288): `first`, `next`, `prev`.",
    text(8_192, printablePattern),
  ),
  Location: header("URL of the new resource.", {
    type: "string",
    format: "uri-reference",
    maxLength: 256,
    pattern: "^/v[0-9]+/",
  }),
  "Idempotency-Replayed": header(
    "Present if this repeats the response to an earlier request with the same `Idempotency-Key`.",
    {
      type: "string",
      enum: ["true"],
    },
  ),
  "X-Request-Id": header(
    "The request's id in the server's logs: the client's `X-Request-Id`, or a new one. Absent if shared caches may store the response.",
    text(128, printablePattern),
  ),
  traceparent: header(
    "The request's trace (W3C Trace Context): the client's trace, or a new one. Absent if shared caches may store the response.",
    text(512, "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}"),
  ),
  "API-Version": header("The API version of the response.", text(3, "^[1-9][0-9]{0,2}$")),
  "Access-Control-Allow-Origin": header("Present for allowed origins (CORS).", text(256, printablePattern)),
  "Cache-Control": header(
    "Which caches may store the response, and for how long (RFC 9111).",
    text(256, printablePattern),
  ),
  "RateLimit-Policy": header(
    "The caller's quota: `q` requests in `w` seconds, separately for reads and writes. Absent for callers without a rate limit.",
    text(64, '^"(?:reads|writes)";q=[0-9]+;w=[0-9]+$'),
  ),
  RateLimit: header(
    "The remaining requests (`r`), and the seconds until the whole quota is available again (`t`). Ignore it in a response with `Age`, which comes from a cache.",
    text(64, '^"(?:reads|writes)";r=[0-9]+;t=[0-9]+$'),
  ),
  "WWW-Authenticate": header("The authentication scheme to use (RFC 9110, 11.6.1).", text(256, "^Bearer")),
  "Retry-After": header("Seconds to wait before the next attempt.", {
    type: "integer",
    format: "int32",
    minimum: 0,
    maximum: 86_400,
  }),
};

function headerParameter(name: string, required: boolean, description: string, schema: Json): Json {
  return { name, in: "header", required, description, schema };
}

const strongEtags = String.raw`^(?:\*|"[\x21\x23-\x7E]+"(?:, ?"[\x21\x23-\x7E]+")*)$`;
const anyEtags = String.raw`^(?:W/)?"[\x21\x23-\x7E]+"(?:, ?(?:W/)?"[\x21\x23-\x7E]+")*$`;
// `npm run check` accepts another pattern of a request only if it adds alternatives to the published one.
const etagListSchema = text(8_192, `${strongEtags}|${anyEtags}`);
const keySchema = { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]{1,255}$" };
const ifMatchRule =
  "The ETag of the representation that the client changed, from any API version, also with the `W/` that a compressing intermediary adds; `*` matches every existing resource. If the resource has changed since, the status is 412.";
const keyRule =
  "A key that the client chooses for this request, stored for 24 hours: a repeated request with the same key gets the first response. The key may be in quotes, as a string of structured fields (RFC 9651); the quotes are not part of it.";

const sharedParameters: Readonly<Record<SharedParameter, Json>> = {
  ConsistencyToken: headerParameter(
    "Consistency-Token",
    false,
    "Receipts of writes, separated by commas. A read then returns nothing that is older than these writes; the receipt of a write then includes them. A receipt that cannot be read, since its key has been replaced, gets 400.",
    text(receiptsMax * receiptCharsMax, `^${receiptPattern}(?:, ?${receiptPattern}){0,${receiptsMax - 1}}$`),
  ),
  IfNoneMatch: headerParameter(
    "If-None-Match",
    false,
    "ETags of responses that the client has stored: if one of them is current, the status is 304.",
    {
      type: "string",
      // All headers together are limited to 15,360 bytes (rest-proxy/src/forward/headers.ts).
      maxLength: 8_192,
      // A value that is not an ETag matches nothing, and is not an error.
      pattern: String.raw`^[^\u0000-\u0008\u000A-\u001F\u007F]*$`,
    },
  ),
  IfMatch: headerParameter("If-Match", true, ifMatchRule, etagListSchema),
  OptionalIfMatch: headerParameter("If-Match", false, ifMatchRule, etagListSchema),
  IdempotencyKey: headerParameter("Idempotency-Key", true, keyRule, keySchema),
  OptionalIdempotencyKey: headerParameter("Idempotency-Key", false, keyRule, keySchema),
};
