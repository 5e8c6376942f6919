import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "./config.ts";
import { createSettingsStore, readSettingsFile } from "./settings-store.ts";
import { createBlockList } from "./settings/block-list.ts";
import { describeSettings } from "./settings/effective-settings.ts";
import { validateSettings } from "./settings/validate.ts";
import { parseSettings, SettingsError } from "./settings/parse-settings.ts";
import { listRestartKeys } from "./settings/restart-keys.ts";
import { createTestSettings } from "./settings/testing/test-settings.ts";

function problemsOf(yaml: string, environment: Record<string, string> = {}): readonly string[] {
  try {
    parseSettings(yaml, "gateway.yaml", environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return checkProblemsOf(yaml);
}

/** Those that the schema cannot say. */
function checkProblemsOf(yaml: string): readonly string[] {
  try {
    createTestSettings(yaml);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

describe("a file", () => {
  test.each(["# only a comment\n", "{}", "subgraphs: {}"])("%j is valid", (yaml) => {
    expect(problemsOf(yaml)).toEqual([]);
  });

  test("has every problem reported at once, with its line and the nearest known name", () => {
    const yaml = `
all:
  timeout: 5
  timeout_ms: soon
subgraphs:
  posts:
    timeout_ms: 5
    attempt: 2
    urls: [ftp://x]
header:
  all: {}
`;
    expect(problemsOf(yaml)).toEqual([
      "gateway.yaml:3: all.timeout is unknown; did you mean timeout_ms?",
      "gateway.yaml:4: all.timeout_ms: Invalid input: expected number, received string",
      "gateway.yaml:7: subgraphs.posts.timeout_ms: Too small: expected number to be >=10",
      "gateway.yaml:8: subgraphs.posts.attempt is unknown; did you mean attempts?",
      "gateway.yaml:9: subgraphs.posts.urls[0]: has to be an http(s) URL",
      "gateway.yaml:10: header is unknown; did you mean headers?",
    ]);
  });

  test("with 50,000 unknown keys has the first ones reported, each in constant time", () => {
    const problems = problemsOf(Array.from({ length: 50_000 }, (_, i) => `key${i}: 1\n`).join(""));
    expect([problems.length, problems[0]]).toEqual([
      50,
      expect.stringMatching(/^gateway.yaml:1: key0 is unknown; known: /),
    ]);
  });

  test.each([
    [" \n", "gateway.yaml is empty; a file without settings is {}"],
    ["a: [", "gateway.yaml:1:"],
    ["supergraph: { file: a, url: http://a }", "gateway.yaml:1: supergraph: has either file or url"],
    ["supergraph:\n  url: [http://a, ftp://b]", "gateway.yaml:2: supergraph.url[1]: has to be an http(s) URL"],
    ['supergraph: { headers: { a: "b\\nc" } }', "gateway.yaml:1: supergraph.headers.a: has to be a header value"],
    ["all: { timeout_ms: 10 }\nall: {}", "gateway.yaml:2: the key all is repeated"],
    ["subgraphs:\n  1: {}\n  '1': {}", "gateway.yaml:3: the key 1 is repeated"],
    ["a: &x {}\nb: *x", "aliases"],
    ["[]", "gateway.yaml:1: Invalid input: expected object"],
    ["log:\n  level: !env LEVEL", "gateway.yaml:2: Unresolved tag: !env"],
    ["blocked: [{ reason: no }]", "gateway.yaml:1: blocked[0]: needs operation, client, or both"],
    ["blocked: [{ client: a }]", "gateway.yaml:1: blocked[0].reason: is required"],
    ["blocked: [{ operation: '{ a }', reason: b }]", "blocked[0].operation: has to be the name of an operation, or"],
    ["http: { draft: 2025 }", "gateway.yaml:1: http.draft: has to be 2026-08"],
    ["blocked: [{ client: a, reason: b, until: tomorrow }]", "has to be a time such as"],
    ["cors:\n  origins:\n    - https://a.example/path", "gateway.yaml:3: cors.origins[0]: has to be an origin"],
    ["errors: { all: { codes: some } }", "gateway.yaml:1: errors.all.codes"],
    ["headers: { all: { request: [{}] } }", "needs exactly one of propagate, insert and remove"],
    ["headers: { all: { request: [{ propagate: {} }] } }", "needs exactly one of named and matching and cookie"],
    ['headers: { all: { request: [{ propagate: { matching: "(" } }] } }', "has to be a regular expression"],
    [
      'headers: { all: { request: [{ propagate: { matching: "^x-(?!internal)" } }] } }',
      "has to be a regular expression, without back-references and look-around",
    ],
    ['headers: { all: { request: [{ insert: { name: a, value: "b\\nc" } }] } }', "has to be printable ASCII"],
    ["headers: { all: { request: [{ propagate: { named: [a, b], rename: c } }] } }", "needs `named` with one name"],
  ])("%j is rejected", (yaml, problem) => {
    expect(problemsOf(yaml).join("\n")).toContain(problem);
  });

  test("takes secrets from variables, and a missing one is a problem", () => {
    const yaml = 'headers:\n  all:\n    request:\n      - insert: { name: x-key, value: "k ${env.KEY}" }';
    const { settings, source } = parseSettings(yaml, "gateway.yaml", { KEY: "s3cret" });
    expect(settings.headers?.all?.request?.[0]?.insert?.value).toBe("k s3cret");
    expect(JSON.stringify(source)).not.toContain("s3cret");
    expect(problemsOf(yaml)).toContainEqual("gateway.yaml:4: the variable KEY is not set");
  });
});

describe("header rules", () => {
  const requestNames = [
    ..."host accept Accept-Encoding accept-language content-type content-length expect connection keep-alive".split(
      " ",
    ),
    ..."te trailer transfer-encoding upgrade proxy-authorization x-client-key traceparent tracestate".split(" "),
    ..."x-request-id forwarded x-forwarded-for X-Forwarded-Host x-deadline-ms consistency-token write-position".split(
      " ",
    ),
    ..."x_forwarded_for content_type X_CLIENT_KEY consistency_token".split(" "),
  ];
  test.each(requestNames)("no rule for requests may name %s", (name) => {
    for (const rule of [
      `propagate: { named: ${name} }`,
      `propagate: { named: x-a, rename: ${name} }`,
      `insert: { name: ${name}, value: a }`,
      `remove: { named: ${name} }`,
    ])
      expect(problemsOf(`headers: { all: { request: [{ ${rule} }] } }`).join()).toContain("is reserved");
  });

  const responseNames = [
    ..."access-control-allow-origin content-type content-encoding vary etag cache-control cache-groups connection".split(
      " ",
    ),
    ..."transfer-encoding consistency-token write-position x-request-id traceparent Access_Control_Max_Age".split(" "),
    ..."cloudflare-cdn-cache-control edge-control x-sendfile X-Accel-Redirect x_accel_expires".split(" "),
  ];
  test.each(responseNames)("no rule for responses may name %s", (name) => {
    for (const rule of [
      `propagate: { named: ${name} }`,
      `propagate: { named: x-a, rename: ${name} }`,
      `insert: { name: ${name}, value: a }`,
      `remove: { named: ${name} }`,
    ])
      expect(problemsOf(`headers: { all: { response: [{ ${rule} }] } }`).join()).toContain("is reserved");
  });

  test.each([
    ["all: { request: [{ insert: { name: x-user, claim: sub } }] }", "a claim needs JWKS_URL"],
    [
      "all: { request: [{ propagate: { named: authorization } }] }",
      "headers.all.request[0].propagate.named: authorization is forwarded unless",
    ],
    ["all: { request: [{ propagate: { named: x-a, rename: cookie } }] }", "no header can become cookie"],
    ["all: { response: [{ propagate: { named: x-a, rename: set-cookie } }] }", "set-cookie can neither be renamed"],
    ["all: { response: [{ propagate: { named: x-a, from_queries: true } }] }", "is for set-cookie only"],
    ["all: { response: [{ insert: { name: Set-Cookie, value: a=b } }] }", "every client would get the same cookie"],
    ["subgraphs: { a: { response: [{ insert: { name: x-a, value: b } }] } }", "is for headers.all only"],
  ])("%s is rejected", (rules, problem) => {
    expect(problemsOf(`headers: { ${rules} }`).join()).toContain(problem);
  });
});

test("a document is blocked by its SHA-256, however its letters are written", () => {
  const documentHash = "ab".repeat(32);
  const blocks = createBlockList([{ operation: documentHash.toUpperCase(), reason: "test" }]);
  const check = (hash: string) => () => blocks.check(undefined, { operationName: undefined, documentHash: hash });
  expect(check(documentHash)).toThrow("test");
  expect(check("cd".repeat(32))).not.toThrow();
});

test.each([
  ..."Accept accept-language Content-Type content-language range cookie Origin referer user-agent".split(" "),
  ..."cache-control pragma priority sec-fetch-site".split(" "),
])("csrf.required_headers with %s, which a browser sends without a preflight, is refused", (name) => {
  expect(problemsOf(`csrf: { required_headers: [x-csrf, ${name}] }`)).toEqual([
    "gateway.yaml:1: csrf.required_headers[1]: is sent without a preflight, so it would permit any page",
  ]);
});

describe("CORS", () => {
  test.each([
    "origins: ['*', { origin: https://a.example, allow_credentials: true }]",
    "{ origins: [{ origin: '*', allow_credentials: true }] }",
    "{ origins: [{ origin: https://a.example, allow_credentials: true }], allow_headers: ['*'] }",
    "{ origins: [{ origin: https://a.example, allow_credentials: true }], expose_headers: ['*'] }",
  ])("credentials exclude *: %s", (cors) => {
    const text = cors.startsWith("{") ? cors : `{ ${cors} }`;
    expect(problemsOf(`cors: ${text}`).join()).toContain("* is not possible");
  });

  test("pages may send the headers that rules forward, and read those that rules return", () => {
    const { cors } = createTestSettings(`
cors: { origins: [https://a.example] }
headers:
  all:
    request: [{ propagate: { named: X-Tenant } }, { propagate: { named: cookie } }]
    response: [{ propagate: { named: x-a, rename: X-B } }, { propagate: { named: set-cookie } }]
`);
    const exposed = cors.headersFor("https://a.example")[3] ?? "";
    expect(exposed.split(", ")).toContain("x-b");
    expect(exposed).not.toContain("cookie");
  });
});

test("keys that take effect at a start only are named when they change", () => {
  const after = { all: { key_check: false, timeout_ms: 20 }, subgraphs: { a: { entity_cache: true, attempts: 1 } } };
  expect(listRestartKeys({}, after)).toEqual(["all.key_check", "subgraphs.a.entity_cache"]);
  expect(listRestartKeys(after, after)).toEqual([]);
  expect(listRestartKeys({}, { supergraph: { last_good: "/last" } })).toEqual(["supergraph"]);
});

test("the feed of a cached subgraph that follows from its URLs is such a key, too", () => {
  const fileOf = (port: number, more: object = {}) => ({
    subgraphs: { a: { entity_cache: true, urls: [`http://127.0.0.1:${port}/graphql`], ...more } },
  });
  expect(listRestartKeys(fileOf(4_001), fileOf(5_001))).toEqual(["subgraphs.a.feed_urls"]);
  const ownFeed = { feed_urls: ["http://127.0.0.1:4101"] };
  expect(listRestartKeys(fileOf(4_001, ownFeed), fileOf(5_001, ownFeed))).toEqual([]);
});

test("validation of a file that names the supergraph and has another problem does not miss the supergraph", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { settings: join(folder, "gateway.yaml"), supergraph: join(folder, "supergraph.graphql") };
  writeFileSync(files.supergraph, 'enum join__Graph { A @join__graph(name: "a", url: "http://a") }');
  writeFileSync(files.settings, `supergraph: { file: ${files.supergraph} }\nsubgraphs:\n  a: { attempt: 2 }\n`);
  expect(validateSettings({}, files.settings)).toEqual([
    `${files.settings}:3: subgraphs.a.attempt is unknown; did you mean attempts?`,
  ]);
});

test("validation reports misspelt variables, and names that the supergraph does not have", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { settings: join(folder, "gateway.yaml"), supergraph: join(folder, "supergraph.graphql") };
  writeFileSync(files.supergraph, 'enum join__Graph { A @join__graph(name: "a", url: "http://a") }');
  writeFileSync(files.settings, "subgraphs:\n  a: { attempts: 2 }\nheaders:\n  subgraphs:\n    b: {}\n");
  const environment = { SUPERGRAPH_FILE: files.supergraph, SUBGRAPH_TIMEOUT_MS_A: "5", SUBGRAPH_URL_C: "http://c" };
  expect(validateSettings(environment, files.settings)).toEqual([
    "SUBGRAPH_TIMEOUT_MS_A is unknown: did you mean SUBGRAPH_TIMEOUT_MS?",
    "SUBGRAPH_URL_C names no subgraph of the supergraph: it has a",
    `${files.settings}:5: headers.subgraphs.b names no subgraph of the supergraph: it has a`,
  ]);
  writeFileSync(files.settings, "subgraphs:\n  a: { attempt: 2 }\n  c: {}\nheaders: { subgraphs: [b] }\n");
  expect(validateSettings({ SUPERGRAPH_FILE: files.supergraph, PORT: "x" }, files.settings)).toEqual([
    `${files.settings}:2: subgraphs.a.attempt is unknown; did you mean attempts?`,
    `${files.settings}:4: headers.subgraphs: Invalid input: expected record, received array`,
    expect.stringMatching(/^PORT="x" /),
  ]);
  expect(validateSettings({ SUPERGRAPH_FILE: files.supergraph }, files.settings)).toEqual([
    `${files.settings}:2: subgraphs.a.attempt is unknown; did you mean attempts?`,
    `${files.settings}:4: headers.subgraphs: Invalid input: expected record, received array`,
    `${files.settings}:3: subgraphs.c names no subgraph of the supergraph: it has a`,
  ]);
  expect(validateSettings({ SUPERGRAPH_FILE: files.supergraph }, join(folder, "none.yaml")).join()).toContain(
    "cannot be read",
  );
  writeFileSync(files.settings, "{}");
  const notes: string[] = [];
  for (const variables of [{ SUPERGRAPH_URL: "http://a/" }, { SUPERGRAPH_FILE: files.supergraph }])
    expect(validateSettings(variables, files.settings, (note) => notes.push(note))).toEqual([]);
  expect(notes).toEqual([expect.stringContaining("not checked, as the supergraph is at a URL")]);
  expect(validateSettings({ SUPERGRAPH_FILE: "none.graphql" }, files.settings).join()).toMatch(
    /^none\.graphql cannot be read: ENOENT/,
  );
});

test("validation reads the registered documents", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [settings, supergraph, documents] = ["gateway.yaml", "supergraph.graphql", "documents.json"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(supergraph, 'enum join__Graph { A @join__graph(name: "a", url: "http://a") }');
  writeFileSync(settings, `documents: { mode: enforce, file: ${documents} }\n`);
  const notes: string[] = [];
  const validate = () => validateSettings({ SUPERGRAPH_FILE: supergraph }, settings, (note) => notes.push(note));
  expect(validate()).toEqual([]);
  expect(notes).toEqual([`The registered documents were not checked, as ${documents} does not exist.`]);
  writeFileSync(documents, '{"a":"{ a }"}');
  expect(validate()).toEqual([]);
  writeFileSync(documents, '{"a":{}}');
  expect(validate()).toEqual([expect.stringContaining(`${documents}: the bundle is not valid: a has to be`)]);
});

test("the effective settings name the source of each value, and no secret", () => {
  const environment = {
    SUPERGRAPH_FILE: "supergraph.graphql",
    SUBGRAPH_URL_A: "http://user:s3cret@a:1/graphql?key=s3cret",
    CONSISTENCY_KEYS: "s3cret-s3cret-s3cret-s3cret-s3cret",
    KEY: "s3cret",
  };
  const yaml = `
supergraph: { url: http://c/supergraph, headers: { x-key: "\${env.KEY}" } }
all: { timeout_ms: 50 }
subgraphs: { a: { attempts: 1 }, b: { urls: ["http://u:s3cret\\"q@b/graphql?key=\${env.KEY}", "ht\\ttp://u:s3cret\\"q@b"] } }
headers: { subgraphs: { a: { request: [{ insert: { name: x-key, value: "\${env.KEY}" } }] } } }
`;
  const store = createSettingsStore(
    parseSettings(yaml, "gateway.yaml", environment),
    readConfig(environment),
    environment,
  );
  const effective = describeSettings(store, environment, {
    listSubgraphs: () => [
      { service: "a", url: "http://x" },
      { service: "b", url: "http://x" },
    ],
    supergraphId: () => "f00",
    supergraphStatus: () => ({ staleSeconds: 3, rejected: undefined }),
    documentsStatus: () => undefined,
  });
  expect(effective).toMatchObject({
    supergraph: { headers: { "x-key": "${env.KEY}" }, id: "f00", staleSeconds: 3 },
    subgraphs: {
      a: {
        urls: { value: ["http://redacted@a:1/graphql?redacted"], from: "SUBGRAPH_URL_A" },
        timeout_ms: { value: 50, from: "gateway.yaml: all.timeout_ms" },
        attempts: { value: 1, from: "gateway.yaml: subgraphs.a.attempts" },
        requests_in_flight: { value: 1_024, from: "default" },
      },
    },
    all: { timeout_ms: 50 },
    log: { level: { value: "info", from: "default" } },
    variables: {
      CONSISTENCY_KEYS: { value: "redacted", from: "CONSISTENCY_KEYS" },
      PORT: { value: "4000", from: "default" },
    },
  });
  expect(JSON.stringify(effective)).not.toContain("s3cret");
});

test("a change that a listener cannot apply is reported, and the next one takes effect", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-settings-"));
  const file = join(folder, "gateway.yaml");
  const write = (yaml: string) => writeFileSync(file, yaml);
  write("{}");
  const environment = { SUPERGRAPH_FILE: "supergraph.graphql" };
  const store = createSettingsStore(readSettingsFile(file, environment), readConfig(environment), environment);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
  const seen: string[] = [];
  store.watch({
    observe: ({ kind }) => void seen.push(kind),
    onChange({ logLevel }) {
      seen.push(logLevel);
      if (logLevel === "warn") throw new Error("a bug");
    },
  });
  write("log: { level: warn }");
  await expect.poll(() => seen).toContain("internal-error");
  write("log: { level: error }");
  await expect.poll(() => seen).toEqual(["settings-loaded", "warn", "internal-error", "settings-loaded", "error"]);
});
