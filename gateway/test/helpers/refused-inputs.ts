// Requests to /graphql that the gateway rejects, each as expensive as the limits allow.
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";

export interface RefusedInput {
  readonly name: string;
  /**
   * Writes one request for `POST /graphql`. The schema must have the types of library.ts.
   * @param variant makes the text differ from that of other variants, so that no cache can serve it.
   */
  build(variant: number): RequestContent;
  /** The status for `Accept: application/graphql-response+json`. */
  readonly status: number;
  /** The code of the first error must be one of these. */
  readonly codes: readonly string[];
}

export interface RequestContent {
  /** In addition to `Accept`, `Content-Type: application/json` and `Content-Length`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The default of GRAPHQL_BODY_BYTES_MAX. Inputs with a long text stay below it, so that their text is read to the end. */
const bodyBytesMax = 1_048_576;
const longText = bodyBytesMax - 2_000;
/** The default of DOCUMENT_TOKENS_MAX. */
const tokensMax = 10_000;
/** For the part of a document that is not repeated. */
const reservedTokens = 100;
/** The size of a compressed body after decompression. */
const bombBytes = 50_000_000;

const malformed = { status: 400, codes: ["MALFORMED_REQUEST"] } as const;
const tooLarge = { status: 413, codes: ["PAYLOAD_TOO_LARGE"] } as const;
const invalid = ["GRAPHQL_VALIDATION_FAILED"];
const syntax = ["GRAPHQL_PARSE_FAILED"];

const many = (count: number, write: (i: number) => string, separator = " ") =>
  Array.from({ length: count }, (_, i) => write(i)).join(separator);

/** As many repetitions as fit into the token limit. */
const withinTokens = (tokensEach: number, write: (i: number) => string) =>
  many(Math.floor((tokensMax - reservedTokens) / tokensEach), write);

function json(body: string): RequestContent {
  return { headers: {}, body: Buffer.from(body) };
}

/** A document that exceeds a limit, or is not valid. `write` gets a name that differs between variants, such as "v0". */
function document(name: string, codes: readonly string[], write: (unique: string) => string): RefusedInput {
  return { name, status: 400, codes, build: (variant) => json(JSON.stringify({ query: write(`v${variant}`) })) };
}

/** Compressing a bomb takes 100 ms, so each is compressed once. */
const gzipBomb = memoize((bytes) => gzipSync(Buffer.alloc(bytes, " ")));
const deflateBomb = memoize((bytes) => deflateSync(Buffer.alloc(bytes, " ")));
const brotliBomb = memoize((bytes) =>
  brotliCompressSync(Buffer.alloc(bytes, " "), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
);

/** The returned function compresses a body of `bytes` bytes, the first time it gets this number. */
function memoize(compress: (bytes: number) => Buffer): (bytes?: number) => Buffer {
  const compressedBodies = new Map<number, Buffer>();
  return (bytes = bombBytes) => {
    let compressed = compressedBodies.get(bytes);
    if (compressed === undefined) {
      compressed = compress(bytes);
      compressedBodies.set(bytes, compressed);
    }
    return compressed;
  };
}

/** Limits of the text: length, tokens, definitions. */
const texts: readonly RefusedInput[] = [
  document(
    "60,000 unused variables",
    ["LENGTH_LIMIT_EXCEEDED", "TOKEN_LIMIT_EXCEEDED"],
    (v) => `query ${v}(${many(60_000, (i) => `$a${i}:ID`)}) { whoAmI }`,
  ),
  document(
    "unused variables within the token limit",
    ["VARIABLE_LIMIT_EXCEEDED"],
    (v) => `query ${v}(${withinTokens(4, (i) => `$a${i}:ID`)}) { whoAmI }`,
  ),
  document(
    "200 unused variables after a megabyte of line breaks",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) =>
      `query ${v}(${many(200, (i) => `$a${i}:ID`)} ${"\n".repeat(longText / 2 - 10_000)}${many(200, (i) => `$b${i}:ID`)}) { whoAmI }`,
  ),
  document(
    "200 unused variables after 19,000 line breaks",
    invalid,
    (v) => `query ${v}(${"\n".repeat(19_000)}${many(200, (i) => `$b${i}:ID`)}) { whoAmI }`,
  ),
  document("many operations", ["DEFINITION_LIMIT_EXCEEDED"], (v) =>
    withinTokens(5, (i) => `query ${v}${i} { whoAmI }`),
  ),
  document(
    "many unused fragments",
    ["DEFINITION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI } ${withinTokens(7, (i) => `fragment F${i} on Query { whoAmI }`)}`,
  ),
  document(
    "many fragments in one cycle",
    ["DEFINITION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ...F0 } ${many(1_200, (i) => `fragment F${i} on Query { ...F${(i + 1) % 1_200} }`)}`,
  ),
  document(
    "60 fragments that spread each other",
    [...invalid, "SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ...F0 } ${many(60, (i) => `fragment F${i} on Query { ${many(60, (j) => `...F${j}`)} }`)}`,
  ),
  document(
    "a megabyte of tokens",
    ["TOKEN_LIMIT_EXCEEDED", "LENGTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${"a ".repeat(longText / 2 - 100)}}`,
  ),
  document(
    "a megabyte of comments",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${"#\n".repeat(longText / 3 - 100)}}`,
  ),
  document(
    "a megabyte of commas before a syntax error",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${",".repeat(longText - 100)} ]`,
  ),
  document(
    "a syntax error at the end of a long document",
    syntax,
    (v) => `{ ${v}: whoAmI ${withinTokens(1, (i) => `a${i}`)}`,
  ),
  document(
    "a string of a megabyte",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: "${"x".repeat(longText)}") { name } }`,
  ),
  document(
    "a string of 200,000 escaped characters",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: "${String.raw`\u0041`.repeat(140_000)}") { name } }`,
  ),
  document(
    "a block string of many lines",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: """${" \n".repeat(longText / 3)}""") { name } }`,
  ),
  document(
    "a number of a megabyte",
    ["LENGTH_LIMIT_EXCEEDED"],
    (v) => `query (\$${v}: Int = ${"9".repeat(longText)}) { person(id: \$${v}) { name } }`,
  ),
  document("a name of 200,000 characters", invalid, (v) => `{ ${v}${"x".repeat(200_000)} }`),
];

/** Limits of an operation, and fragments that multiply. */
const operations: readonly RefusedInput[] = [
  document(
    "repeated fields",
    ["SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: books { ${withinTokens(1, () => "title")} } }`,
  ),
  document(
    "repeated fields below the limit of selections",
    ["SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: books { ${"title ".repeat(1_900)} } }`,
  ),
  document(
    "overlapping fields",
    ["SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: books { ${"author { books { title } } ".repeat(600)} } }`,
  ),
  document(
    "overlapping fields with different arguments",
    [...invalid, "SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${many(48, (i) => `a${i % 2}: person(id: ${i}) { name }`)} }`,
  ),
  document(
    "a fragment bomb",
    ["SELECTION_LIMIT_EXCEEDED"],
    (v) =>
      `{ ${v}: books { ...F0 } } ${many(30, (i) => `fragment F${i} on Book { ...F${i + 1} ... { ...F${i + 1} } }`)} fragment F30 on Book { title }`,
  ),
  document(
    "many directives",
    ["DIRECTIVE_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${withinTokens(7, () => "@skip(if: false)")} }`,
  ),
  document(
    "many directives on variables and fragments",
    ["DIRECTIVE_LIMIT_EXCEEDED"],
    (v) =>
      `query ${v}($a: ID ${withinTokens(10, () => "@x @y")}) { person(id: $a) { ...F } } fragment F on Person ${withinTokens(10, () => "@x @y")} { name }`,
  ),
  document(
    "many aliases",
    ["ALIAS_LIMIT_EXCEEDED", "SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${withinTokens(3, (i) => `a${i}: whoAmI`)} }`,
  ),
  document(
    "deep selections",
    ["DEPTH_LIMIT_EXCEEDED", "SELECTION_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: ${withinTokens(3, () => "books {")} title ${withinTokens(3, () => "}")} }`,
  ),
  document(
    "unbalanced braces",
    [...syntax, "DEPTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: people ${withinTokens(2, () => "{ books")}`,
  ),
  document(
    "deep inline fragments",
    [...invalid, "SELECTION_LIMIT_EXCEEDED", "DEPTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: whoAmI ${withinTokens(3, () => "... {")} whoAmI ${withinTokens(3, () => "}")} }`,
  ),
  document(
    "deep lists in a value",
    ["DEPTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: ${withinTokens(2, () => "[")} ${withinTokens(2, () => "]")}) { name } }`,
  ),
  document(
    "deep objects in a value",
    ["DEPTH_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: ${withinTokens(4, () => "{a:")} 1 ${withinTokens(4, () => "}")}) { name } }`,
  ),
  document(
    "a deep list type of a variable",
    ["DEPTH_LIMIT_EXCEEDED"],
    (v) => `query ${v}($a: ${withinTokens(2, () => "[")} ID ${withinTokens(2, () => "]")}) { person(id: $a) { name } }`,
  ),
  document(
    "deep objects in an unused fragment",
    ["DEPTH_LIMIT_EXCEEDED"],
    (v) =>
      `{ ${v}: whoAmI } fragment F on Query { person(id: ${withinTokens(4, () => "{a:")} 1 ${withinTokens(4, () => "}")}) { name } }`,
  ),
  document(
    "a long list in an argument",
    ["LIST_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: [${withinTokens(1, (i) => `${i}`)}]) { name } }`,
  ),
  document(
    "an object with many fields",
    ["LIST_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: person(id: {${withinTokens(3, (i) => `a${i}:1`)}}) { name } }`,
  ),
  document(
    "introspection of introspection",
    invalid,
    (v) =>
      `{ ${v}: __schema { types { ${"fields { type { fields { type { ".repeat(8)} name ${"} } } }".repeat(8)} } } }`,
  ),
];

/** Documents within all limits that are not valid: graphql-js reports up to 100 errors, each with its location and suggestions. */
const validations: readonly RefusedInput[] = [
  document(
    "unknown fields",
    invalid,
    (v) => `{ ${v}: books { title } person(id: 1) { ${many(1_900, (i) => `item${i}x`)} } }`,
  ),
  document(
    "unknown fields beside many known ones",
    invalid,
    (v) => `{ ${v}: books { title } ${many(48, (i) => `itme${i}x`)} }`,
  ),
  document("unknown types", invalid, (v) => `{ ${v}: books { ${many(300, (i) => `... on Itme${i} { a${i} }`)} } }`),
  document(
    "unknown types of variables",
    invalid,
    (v) =>
      `query ${v}(${many(200, (i) => `$a${i}: Itme${i}`)}) { person(id: 1) { ${many(190, (i) => `a${i}: name`)} } }`,
  ),
  document("unknown arguments", invalid, (v) => `{ ${v}: person(id: 1 ${many(990, (i) => `di${i}: 1`)}) { name } }`),
  document("unknown directives", invalid, (v) => `{ ${v}: whoAmI ${many(190, (i) => `@skpi${i}`)} }`),
  document(
    "undefined variables",
    invalid,
    (v) => `{ ${v}: person(id: 1) { ${many(180, (i) => `a${i}: name @skip(if: $a${i})`)} } }`,
  ),
  document("undefined fragments", invalid, (v) => `{ ${v}: books { ${many(215, (i) => `...F${i}`)} } }`),
  document(
    "repeated variables",
    [...invalid, "DEFINITION_LIMIT_EXCEEDED"],
    (v) => `query ${v}(${many(200, () => "$a: ID")}) { person(id: $a) { name } }`,
  ),
  document("repeated arguments", invalid, (v) => `{ ${v}: person(${many(990, () => "id: 1")}) { name } }`),
  document(
    "literals of a wrong type",
    invalid,
    (v) => `{ ${v}: whoAmI ${many(48, (i) => `a${i}: list(first: [${many(60, (j) => `"${j}"`)}])`)} }`,
  ),
  document("a subscription", invalid, (v) => `subscription ${v} { whoAmI }`),
  document(
    "incremental delivery",
    [...invalid, "DIRECTIVE_LIMIT_EXCEEDED"],
    (v) => `{ ${v}: books { ${many(190, (i) => `... @defer(after: "${i}") { title }`)} } }`,
  ),
];

/** JSON, parameters and encodings. Here `v` is the number of the variant. */
const bodies: readonly RefusedInput[] = [
  {
    name: "deep JSON",
    ...malformed,
    build: (v) =>
      json(`{"query":"{ v${v}: whoAmI }","variables":{"a":${"[".repeat(longText / 2)}${"]".repeat(longText / 2)}}}`),
  },
  {
    name: "deep JSON objects",
    ...malformed,
    build: (v) =>
      json(`{"query":"{ v${v}: whoAmI }","variables":${'{"a":'.repeat(longText / 6)}1${"}".repeat(longText / 6)}}`),
  },
  {
    name: "wide JSON",
    status: 400,
    codes: ["BAD_USER_INPUT", "MALFORMED_REQUEST"],
    build: (v) =>
      json(
        `{"query":"query ($id: ID!) { person(id: $id) { name } }","variables":{"id":{${many(70_000, (i) => `"k${i + v}":${i}`, ",")}}}}`,
      ),
  },
  {
    name: "60,000 variables that no operation declares",
    status: 400,
    codes: ["BAD_USER_INPUT", "MALFORMED_REQUEST"],
    build: (v) =>
      json(
        `{"query":"query ($id: ID!) { person(id: $id) { name } }","variables":{${many(60_000, (i) => `"k${i + v}":${i}`, ",")}}}`,
      ),
  },
  {
    name: "many small lists",
    ...malformed,
    build: (v) => json(`{"query":${v},"variables":{"a":[${"[],".repeat(longText / 3 - 100)}0]}}`),
  },
  {
    name: "many empty objects",
    ...malformed,
    build: (v) => json(`{"query":${v},"variables":{"a":[${"{},".repeat(longText / 3 - 100)}0]}}`),
  },
  {
    name: "a key twice at the end",
    ...malformed,
    build: (v) =>
      json(`{"query":"{ v${v}: whoAmI }","variables":{${many(60_000, (i) => `"k${i}":${i}`, ",")},"k0":0}}`),
  },
  {
    name: "a list of wrong values",
    status: 400,
    codes: ["BAD_USER_INPUT", "MALFORMED_REQUEST"],
    build: (v) =>
      json(
        `{"query":"query ($first: Int!) { list(first: $first) }","variables":{"first":[${v}${',"x"'.repeat(longText / 4 - 100)}]}}`,
      ),
  },
  {
    name: "a number of a megabyte in JSON",
    status: 400,
    codes: ["BAD_USER_INPUT", "MALFORMED_REQUEST"],
    // `v + 1`, because variants start at 0 and a JSON number has no leading zero.
    build: (v) =>
      json(
        `{"query":"query ($first: Int!) { list(first: $first) }","variables":{"first":${v + 1}${"9".repeat(longText)}}}`,
      ),
  },
  {
    name: "numbers that are not exact",
    status: 400,
    codes: ["BAD_USER_INPUT", "MALFORMED_REQUEST"],
    build: (v) =>
      json(
        `{"query":"query ($first: Int!) { list(first: $first) }","variables":{"first":[${v}${",9007199254740993".repeat(longText / 18)}]}}`,
      ),
  },
  {
    name: "JSON that is not closed",
    ...malformed,
    build: (v) => json(`{"query":"{ v${v}: whoAmI }","variables":{"a":[${"1,".repeat(longText / 2 - 100)}`),
  },
  {
    name: "a string of escapes",
    ...malformed,
    build: (v) => json(`{"query":"{ v${v}: whoAmI }","variables":"${String.raw`\"`.repeat(longText / 2 - 100)}"}`),
  },
  {
    name: "a batch of operations",
    ...malformed,
    build: (v) => json(`[${many(25_000, (i) => `{"query":"{ a${i + v}: whoAmI }"}`, ",")}]`),
  },
  {
    name: "an operation name of a megabyte",
    status: 400,
    codes: ["OPERATION_RESOLUTION_FAILURE", "MALFORMED_REQUEST"],
    build: (v) => json(`{"query":"{ v${v}: whoAmI }","operationName":"${"x".repeat(longText)}"}`),
  },
  {
    name: "a wrong hash of a long text",
    ...malformed,
    build: (v) =>
      json(
        JSON.stringify({
          query: `{ v${v}: whoAmI } #${"x".repeat(240_000)}`,
          extensions: {
            persistedQuery: { version: 1, sha256Hash: createHash("sha256").update(String(v)).digest("hex") },
          },
        }),
      ),
  },
  {
    name: "bytes that are not UTF-8",
    ...malformed,
    build: (v) => ({
      headers: {},
      body: Buffer.concat([
        Buffer.from(`{"query":"{ v${v}: whoAmI }`),
        Buffer.alloc(longText, "é"),
        Buffer.from([0xff]),
      ]),
    }),
  },
  {
    name: "a body above the limit",
    ...tooLarge,
    build: (v) => json(`{"query":"{ v${v}: whoAmI } ${" ".repeat(2 * bodyBytesMax)}"}`),
  },
  { name: "a gzip bomb", ...tooLarge, build: () => ({ headers: { "content-encoding": "gzip" }, body: gzipBomb() }) },
  {
    name: "a deflate bomb",
    ...tooLarge,
    build: () => ({ headers: { "content-encoding": "deflate" }, body: deflateBomb() }),
  },
  { name: "a br bomb", ...tooLarge, build: () => ({ headers: { "content-encoding": "br" }, body: brotliBomb() }) },
  {
    name: "gzip that ends early",
    ...malformed,
    build: () => ({ headers: { "content-encoding": "gzip" }, body: gzipBomb(900_000).subarray(0, 700) }),
  },
];

export const refusedInputs: readonly RefusedInput[] = [...texts, ...operations, ...validations, ...bodies];
