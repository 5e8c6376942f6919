import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import type { HeaderName } from "@tributary/kit/openapi/openapi";
import { explanations, slugOf } from "@tributary/kit/openapi/problems";
import { toProblemDocument } from "@tributary/kit/http/problem";
import type { Json } from "@tributary/kit/openapi/schema-book";

type SharedHeader =
  | HeaderName
  | "X-Request-Id"
  | "traceparent"
  | "API-Version"
  | "Access-Control-Allow-Origin"
  | "Cache-Control"
  | "RateLimit"
  | "RateLimit-Policy"
  | "WWW-Authenticate"
  | "Retry-After";

type SharedParameter = "IfNoneMatch" | "IfMatch" | "OptionalIfMatch" | "IdempotencyKey" | "OptionalIdempotencyKey";

/** What operations share, said once; only what one of them refers to gets into the document. */
export interface Components {
  parameter(name: SharedParameter): Json;
  headers(...names: readonly SharedHeader[]): Json;
  /** The answer of one status, with all codes that come with it. */
  problem(codes: readonly ErrorCode[]): Json;
  /** By kind and name, sorted. */
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
      const name = codes.map(toName).join("Or");
      if (!responses.has(name)) responses.set(name, toResponse(components, codes));
      return { $ref: `#/components/responses/${name}` };
    },
    used: () => ({
      headers: sorted(headers),
      parameters: sorted(parameters),
      responses: sorted(responses),
      schemas: { Problem: problemOf(bodyErrors), QueryProblem: problemOf(queryErrors) },
    }),
  };
  return components;
}

function sorted(map: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function toName(code: ErrorCode): string {
  return slugOf(code).replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toResponse(components: Components, codes: readonly ErrorCode[]): Json {
  const status = codes[0] === undefined ? 500 : statusOf[codes[0]];
  const meanings = codes.map((code) => `[\`${slugOf(code)}\`](/problems/${slugOf(code)}): ${explanations[code].means}`);
  const examples = codes.map((code) => {
    const { means } = explanations[code];
    return [slugOf(code), { summary: means, value: toProblemDocument(new AppError(code, means), exampleRequest) }];
  });
  return {
    description: meanings.join("\n\n"),
    headers: components.headers(...headersOfEveryAnswer, ...(headersOfStatus[status] ?? [])),
    content: {
      "application/problem+json": {
        schema: { $ref: `#/components/schemas/${status === 400 ? "QueryProblem" : "Problem"}` },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const exampleRequest = { requestId: "0198c4a5-8c00-7c1d-9f3a-2b6d7e8f9a0b" };
/** The last two to a caller that is counted. */
export const headersOfEveryAnswer: readonly SharedHeader[] = [
  "X-Request-Id",
  "traceparent",
  "API-Version",
  "Access-Control-Allow-Origin",
  "Cache-Control",
  "RateLimit-Policy",
  "RateLimit",
];

const headersOfStatus: Readonly<Record<number, readonly SharedHeader[]>> = {
  401: ["WWW-Authenticate"],
  403: ["WWW-Authenticate"],
  429: ["Retry-After"],
  502: ["Retry-After"],
  503: ["Retry-After"],
};

function problemEntry(place: "pointer" | "parameter", schema: Json): Json {
  return {
    type: "object",
    properties: {
      [place]: schema,
      code: { type: "string", maxLength: 64, pattern: "^[a-z][a-z0-9_]*$", description: "Which rule it breaks." },
      detail: text(1_024, "The rule, for people."),
    },
    required: [place, "code", "detail"],
    additionalProperties: false,
  };
}

/** RFC 9457, with the members that are ours. */
function problemOf(errors: Json): Json {
  return {
    type: "object",
    description: "What went wrong (RFC 9457).",
    properties: {
      type: {
        type: "string",
        format: "uri-reference",
        maxLength: 64,
        pattern: "^/problems/[a-z]+(?:-[a-z]+)*$",
        description: "Which problem it is; its page explains it.",
      },
      title: text(64, "The problem's name in words."),
      status: { type: "integer", format: "int32", minimum: 400, maximum: 599, description: "The status once more." },
      detail: text(4_096, "What is wrong with this request, for people."),
      instance: {
        type: "string",
        format: "uri-reference",
        maxLength: 16_384,
        description: "The path that was asked for, without its query.",
      },
      requestId: text(128, "Under this name our logs have the request."),
      choices: {
        type: "array",
        // Two for each version, and one for the default.
        maxItems: 2_000,
        description: "With 406: media ranges that this path can answer, for `Accept`.",
        items: { type: "string", maxLength: 64, pattern: "^application/[a-z0-9.+;=]+$" },
      },
      errors,
    },
    required: ["type", "title", "status", "detail"],
    additionalProperties: false,
  };
}

/** With 409 and 422. A body of 64 KiB can hold no more wrong names. */
const bodyErrors: Json = {
  type: "array",
  maxItems: 16_384,
  description: "Every problem of the body at once.",
  items: problemEntry("pointer", text(262_144, "A JSON Pointer into the body, as a URI fragment (RFC 6901, 6).")),
};

/** With 400, where it is about the query. */
const queryErrors: Json = {
  type: "array",
  maxItems: 110,
  description: "Every query parameter that is bad. Absent where something else cannot be read, such as the body.",
  items: problemEntry("parameter", text(64, "Its name: the first 64 characters of what was sent.")),
};

function text(maxLength: number, description: string): Json {
  return { type: "string", maxLength, pattern: String.raw`^[^\u0000-\u0008]*$`, description };
}

function header(description: string, schema: Json): Json {
  return { description, schema };
}

const visible = String.raw`^[\t\x20-\x7E]*$`;
const etags = header("A strong validator: it changes with what the answer says.", {
  type: "string",
  maxLength: 256,
  pattern: String.raw`^"[\x21\x23-\x7E]+"$`,
});

const sharedHeaders: Readonly<Record<SharedHeader, Json>> = {
  ETag: etags,
  "Last-Modified": header("When it changed last, a minute after that moment at the earliest.", {
    type: "string",
    maxLength: 29,
    pattern: "^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$",
  }),
  Link: header("The first page, and those beside this one (RFC 8288): `first`, `next`, `prev`.", {
    type: "string",
    maxLength: 8_192,
    pattern: visible,
  }),
  Location: header("Where the new thing is.", {
    type: "string",
    format: "uri-reference",
    maxLength: 256,
    pattern: "^/v[0-9]+/",
  }),
  "Idempotency-Replayed": header("Said when this is the answer to an earlier request with the same key.", {
    type: "string",
    enum: ["true"],
  }),
  "X-Request-Id": header("The request's name in our logs: the client's own, or a new one.", {
    type: "string",
    maxLength: 128,
    pattern: visible,
  }),
  traceparent: header("The request's trace (W3C Trace Context): the client's own, or a new one.", {
    type: "string",
    maxLength: 512,
    pattern: "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}",
  }),
  "API-Version": header("The version that answered.", { type: "string", maxLength: 3, pattern: "^[1-9][0-9]{0,2}$" }),
  "Access-Control-Allow-Origin": header("Said to pages of the origins that are allowed here (CORS).", {
    type: "string",
    maxLength: 256,
    pattern: visible,
  }),
  "Cache-Control": header("Who may keep a copy, and for how long (RFC 9111).", {
    type: "string",
    maxLength: 256,
    pattern: visible,
  }),
  "RateLimit-Policy": header(
    "How many requests (`q`) are answered for one caller in how many seconds (`w`), reads and writes apart. Absent for callers that are not counted.",
    { type: "string", maxLength: 64, pattern: '^"(?:reads|writes)";q=[0-9]+;w=[0-9]+$' },
  ),
  RateLimit: header(
    "How many requests are left (`r`), and after how many seconds all are there again (`t`). To be ignored where `Age` says that a cache answered.",
    { type: "string", maxLength: 64, pattern: '^"(?:reads|writes)";r=[0-9]+;t=[0-9]+$' },
  ),
  "WWW-Authenticate": header("How to say who is calling (RFC 9110, 11.6.1).", {
    type: "string",
    maxLength: 256,
    pattern: "^Bearer",
  }),
  "Retry-After": header("After how many seconds it is worth another try.", {
    type: "integer",
    format: "int32",
    minimum: 0,
    maximum: 86_400,
  }),
};

function conditionOf(name: string, required: boolean, description: string, schema: Json): Json {
  return { name, in: "header", required, description, schema };
}

const matches = {
  type: "string",
  maxLength: 8_192,
  pattern: String.raw`^(?:\*|"[\x21\x23-\x7E]+"(?:, ?"[\x21\x23-\x7E]+")*)$`,
};
const key = { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]{1,255}$" };
const ifMatch =
  "The ETag of what the change was made from, of either version; `*` for whatever is there. When it has changed since, it is 412.";
const keyRule =
  "A name of the client's own for this request, kept for 24 hours: whoever sends both again gets the first answer. It may stand in quotes, as a string of structured fields (RFC 9651) does: they are no part of it.";

const sharedParameters: Readonly<Record<SharedParameter, Json>> = {
  IfNoneMatch: conditionOf(
    "If-None-Match",
    false,
    "ETags of copies that the client has: when one still holds, it is 304.",
    {
      type: "string",
      // All headers together have 15,360 bytes (rest-proxy/src/forward/headers.ts).
      maxLength: 8_192,
      // Whatever else is there matches nothing, and is no error.
      pattern: String.raw`^[^\u0000-\u0008\u000A-\u001F\u007F]*$`,
    },
  ),
  IfMatch: conditionOf("If-Match", true, ifMatch, matches),
  OptionalIfMatch: conditionOf("If-Match", false, ifMatch, matches),
  IdempotencyKey: conditionOf("Idempotency-Key", true, keyRule, key),
  OptionalIdempotencyKey: conditionOf("Idempotency-Key", false, keyRule, key),
};
