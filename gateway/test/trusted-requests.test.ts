import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Library, startLibrary } from "./helpers/library.ts";
import { type BundleEntry, startTrustedGateway } from "./helpers/trusted-documents.ts";

// Requests with every combination of ids, a text and a method. The expected outcome is computed from the rules in docs/clients.md.

let library: Library;
beforeAll(async () => void (library = await startLibrary()));
afterAll(() => library.close());

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const ada = { person: { name: "Ada" } };
const [registeredHash, otherHash] = ["anything", "something else"].map(sha256) as [string, string];
const texts = {
  person: `query Person { person(id: "1") { name } }`,
  rename: `mutation Rename { rename(id: "1", name: "Ada") { name } }`,
  two: `query A { person(id: "1") { name } } query B { book(isbn: "b1") { title } }`,
  prototype: `query Prototype { person(id: "2") { name } }`,
  long: `query Long { book(isbn: "b2") { title } }`,
  slashes: `query Slashes { whoAmI }`,
  file: `query File { book(isbn: "b3") { title } }`,
  upper: `query Upper { list(first: 1) }`,
  stolen: `query Stolen { list(first: 2) }`,
};
const entries: readonly (BundleEntry & { readonly text: string })[] = [
  { id: "person-1", text: texts.person },
  { id: "person-2", text: texts.person, file: "clients/app/1.json" },
  { id: "rename-1", text: texts.rename },
  { id: "two-1", text: texts.two },
  { id: "__proto__", text: texts.prototype },
  { id: "constructor", text: texts.prototype },
  { id: "a".repeat(3_000), text: texts.long },
  { id: "a/b%2F?c=d&é#..", text: texts.slashes },
  { text: texts.file },
  { id: registeredHash.toUpperCase(), text: texts.upper },
  // The hash of another document.
  { id: sha256(texts.two), text: texts.stolen },
];
const unregistered = [`{ person(id: "2") { name } }`, `${texts.person} `, "{ nothing }", "{"];

type Outcome = object | string;
const results: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  [texts.person]: { Person: ada },
  [texts.rename]: { Rename: { rename: { name: "Ada" } } },
  [texts.two]: { A: ada, B: { book: { title: "Engines" } } },
  [texts.prototype]: { Prototype: { person: { name: "Grace" } } },
  [texts.long]: { Long: { book: { title: "Compilers" } } },
  [texts.slashes]: { Slashes: { whoAmI: "anonymous" } },
  [texts.file]: { File: { book: { title: "Anonymous" } } },
  [texts.upper]: { Upper: { list: [0] } },
  [texts.stolen]: { Stolen: { list: [0, 1] } },
  [unregistered[0] ?? ""]: { "": { person: { name: "Grace" } } },
  [unregistered[1] ?? ""]: { Person: ada },
  [unregistered[2] ?? ""]: {},
  [unregistered[3] ?? ""]: {},
};

const textById = new Map<string, string>();
for (const { text } of entries) for (const id of [sha256(text), `sha256:${sha256(text)}`]) textById.set(id, text);
for (const { id, text } of entries) if (id !== undefined) textById.set(id, text);
const registeredTexts = new Set(entries.map(({ text }) => text));

interface Form {
  readonly method: "GET" | "POST";
  readonly query?: unknown;
  readonly documentId?: unknown;
  readonly doc_id?: unknown;
  readonly id?: unknown;
  readonly path?: string | undefined;
  readonly hash?: unknown;
  readonly operationName?: string | undefined;
}

/** docs/clients.md, "Send a document by its id". @param stored automatic persisted queries, by hash. */
function expectedOutcome(mode: string, form: Form, stored: Map<string, string>): Outcome {
  const { method, hash } = form;
  if (method === "GET" && form.query !== undefined) return "CSRF_PREVENTED";
  const hasNoId = ![form.documentId, form.doc_id, form.id, form.path, hash].some((id) => id !== undefined);
  if (method === "GET" && hasNoId) return "CSRF_PREVENTED";
  if (hash !== undefined && typeof hash !== "string") return "MALFORMED_REQUEST";
  const ids = [hash, form.documentId, form.doc_id, form.id, form.path].filter(
    (id): id is string => typeof id === "string" && id !== "",
  );
  const query = form.query ?? undefined;
  if (query === undefined) {
    if (ids.length === 0 || new Set(ids).size > 1) return "MALFORMED_REQUEST";
    const [id = ""] = ids;
    const text = textById.get(id);
    if (text !== undefined) return execute(form, text);
    if (mode === "enforce") return "DOCUMENT_NOT_TRUSTED";
    const persisted = id === hash ? stored.get(id) : undefined;
    return persisted === undefined ? "PERSISTED_QUERY_NOT_FOUND" : execute(form, persisted);
  }
  if (typeof query !== "string" || query === "") return "MALFORMED_REQUEST";
  if (ids.some((id) => textById.has(id) && textById.get(id) !== query)) return "MALFORMED_REQUEST";
  // Of automatic persisted queries.
  if (hash !== undefined && hash !== sha256(query) && textById.get(hash) !== query) return "MALFORMED_REQUEST";
  if (!registeredTexts.has(query)) {
    if (mode === "enforce") return "DOCUMENT_NOT_TRUSTED";
    const outcome = execute(form, query);
    if (hash !== undefined && outcome !== "invalid") stored.set(hash, query);
    return outcome;
  }
  return execute(form, query);
}

function execute({ method, operationName }: Form, text: string): Outcome {
  const operations = results[text] ?? {};
  const names = Object.keys(operations);
  if (names.length === 0) return "invalid";
  const name = operationName || (names.length === 1 ? names[0] : undefined);
  const data = name === undefined ? undefined : operations[name];
  if (data === undefined) return "OPERATION_RESOLUTION_FAILURE";
  return method === "GET" && text === texts.rename ? "METHOD_NOT_ALLOWED" : data;
}

test.each(["off", "log", "enforce"])("in mode %s, the outcome of each request is that of the rules", async (mode) => {
  const { post, get } = await startTrustedGateway(mode, entries, { supergraphSdl: library.supergraphSdl });
  const draw = createDraw(46);
  const stored = new Map<string, string>();
  const wrong: unknown[] = [];
  for (let i = 0; i < 400; i++) {
    const form = drawForm(draw);
    const expected = expectedOutcome(mode, form, stored);
    // The second request of a POST takes the fast path.
    for (let repeat = 0; repeat < 2; repeat++) {
      const { body } = form.method === "POST" ? await post(toBody(form)) : await get(toUrl(form));
      const code = body.errors?.[0].extensions.code as string | undefined;
      const isExpected =
        expected === "invalid" ? code?.startsWith("GRAPHQL_") : isDeepStrictEqual(code ?? body.data, expected);
      if (!isExpected) wrong.push({ form, expected, body, repeat });
    }
  }
  expect(wrong).toEqual([]);
});

type Draw = <T>(list: readonly T[]) => T;
function createDraw(start: number): Draw {
  let seed = start;
  return (list) => list[(seed = (seed * 48_271) % 2_147_483_647) % list.length] as never;
}

const unknownIds = [
  "unknown",
  "PERSON-1",
  otherHash,
  registeredHash,
  `sha256:${otherHash}`,
  "toString",
  "hasOwnProperty",
  " person-1",
  "person-1\0",
  "valueOf",
  "sha256:",
  sha256(texts.person).toUpperCase(),
];
const hashesOfUnregistered = unregistered.map(sha256);
function drawForm(draw: Draw): Form {
  const method = draw(["POST", "POST", "POST", "GET"] as const);
  const strings = [...textById.keys(), ...unknownIds, ...hashesOfUnregistered];
  const id = draw(strings);
  const others = method === "POST" ? ["", 7, null, true, {}, []] : [""];
  const member = () =>
    draw([
      () => undefined,
      () => undefined,
      () => undefined,
      () => id,
      () => id,
      () => draw(strings),
      () => draw(others),
    ])();
  const text = textById.get(id) ?? unregistered[hashesOfUnregistered.indexOf(id)] ?? draw(unregistered);
  const query = draw([
    undefined,
    undefined,
    undefined,
    text,
    text,
    draw(Object.keys(results)),
    method === "POST" ? draw(["", null, 7]) : text,
  ]);
  const drawnHash = member();
  const names = Object.keys(results[text] ?? {});
  return {
    method,
    query: method === "GET" && draw([1, 2, 3]) > 1 ? undefined : query,
    documentId: member(),
    doc_id: member(),
    id: member(),
    path: method === "GET" && draw([1, 2]) === 1 ? id : undefined,
    hash: drawnHash === "" || drawnHash === null ? undefined : drawnHash,
    operationName: draw([undefined, undefined, ...names, ...names, "Other", ""]),
  };
}

function toBody({ method: _method, path: _path, hash, ...members }: Form): object {
  return { ...members, ...(hash !== undefined && { extensions: persisted(hash) }) };
}

function toUrl({ method: _method, path, hash, ...members }: Form): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (typeof value === "string") search.set(name, value);
  if (hash !== undefined) search.set("extensions", JSON.stringify(persisted(hash)));
  return `/graphql${path === undefined ? "" : `/${encodeURIComponent(path)}`}${search.size > 0 ? `?${search.toString()}` : ""}`;
}

function persisted(sha256Hash: unknown) {
  return { persistedQuery: { version: 1, sha256Hash } };
}
