/** Code samples of an operation: one example request in curl, JavaScript and Python. Each runs as shown, with the token in `TOKEN`. */
import { exampleBodyOf, exampleOf } from "./examples.ts";
import { type OpenApi, type Parameter, parametersOf, type PathOperation, requiresToken } from "./open-api.ts";

export interface Sample {
  readonly language: "curl" | "JavaScript" | "Python";
  readonly code: string;
}

/** The origin in all samples. In a browser, docs.js replaces it by the origin of the page. */
export const exampleOrigin = "http://localhost:4010";

interface ExampleRequest {
  readonly method: string;
  readonly url: string;
  readonly needsToken: boolean;
  readonly headers: readonly ExampleHeader[];
  /** Undefined without a body; examples are objects. */
  readonly body: unknown;
  readonly hasResponseBody: boolean;
}

interface ExampleHeader {
  readonly name: string;
  /** Undefined for an idempotency key: each run of the sample sends a new key. */
  readonly value: string | undefined;
}

/** Samples of the operation's first example. */
export function createSamples(document: OpenApi, entry: PathOperation): readonly Sample[] {
  const request = readExample(document, entry);
  return [
    { language: "curl", code: toCurl(request) },
    { language: "JavaScript", code: toJavaScript(request) },
    { language: "Python", code: toPython(request) },
  ];
}

function readExample(document: OpenApi, { method, path, operation }: PathOperation): ExampleRequest {
  const parameters = parametersOf(document, operation);
  const body = exampleBodyOf(operation);
  const headers = parameters.filter(({ in: place, required }) => place === "header" && required);
  return {
    method: method.toUpperCase(),
    url: `${exampleOrigin}${document.servers[0]?.url ?? ""}${fillPath(path, parameters)}`,
    needsToken: requiresToken(operation),
    headers: [
      ...(body === undefined ? [] : [{ name: "Content-Type", value: body.type }]),
      ...headers.map((parameter) => ({ name: parameter.name, value: exampleOf(parameter) })),
    ],
    body: body?.value,
    hasResponseBody: operation.responses["204"] === undefined,
  };
}

/** The path with the example of each path parameter. */
function fillPath(path: string, parameters: readonly Parameter[]): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = parameters.find((parameter) => parameter.in === "path" && parameter.name === name);
    return encodeURIComponent((parameter && exampleOf(parameter)) ?? name);
  });
}

/** A command for a POSIX shell. Time and process id make a new key: `uuidgen` is often not installed. */
function toCurl({ method, url, needsToken, headers, body }: ExampleRequest): string {
  return [
    "curl -i",
    ...(method === "GET" ? [] : [`-X ${method}`]),
    quoteForShell(url),
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...headers.map(({ name, value }) =>
      value === undefined ? `-H "${name}: $(date +%s)-$$"` : `-H ${quoteForShell(`${name}: ${value}`)}`,
    ),
    ...(body === undefined ? [] : [`-d ${quoteForShell(JSON.stringify(body))}`]),
  ].join(" \\\n  ");
}

/** Quotes a word for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** An ES module for Node and other runtimes with `process.env`. */
function toJavaScript({ method, url, needsToken, headers, body, hasResponseBody }: ExampleRequest): string {
  const fields = [
    ...(needsToken ? ["Authorization: `Bearer ${process.env.TOKEN}`"] : []),
    ...headers.map(
      ({ name, value }) => `"${name}": ${value === undefined ? "crypto.randomUUID()" : JSON.stringify(value)}`,
    ),
  ];
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(fields.length === 0 ? [] : ["  headers: {", ...fields.map((field) => `    ${field},`), "  },"]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${writeLiteral(body, "  ", javaScriptSyntax)}),`]),
  ];
  const init = options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`;
  return `const response = await fetch(${JSON.stringify(url)}${init});
console.log(response.status${hasResponseBody ? ", await response.json()" : ""});`;
}

/** Python's standard library. `urlopen` raises an HTTPError for a status from 400 on. */
function toPython({ method, url, needsToken, headers, body, hasResponseBody }: ExampleRequest): string {
  const fields = [
    ...(needsToken ? [`"Authorization": f"Bearer {os.environ['TOKEN']}"`] : []),
    ...headers.map(
      ({ name, value }) => `"${name}": ${value === undefined ? "str(uuid.uuid4())" : JSON.stringify(value)}`,
    ),
  ];
  const modules = [
    ...(body !== undefined || hasResponseBody ? ["json"] : []),
    ...(needsToken ? ["os"] : []),
    "urllib.request",
    ...(headers.some(({ value }) => value === undefined) ? ["uuid"] : []),
  ];
  const options = [
    `    ${JSON.stringify(url)},`,
    ...(method === "GET" ? [] : [`    method="${method}",`]),
    ...(fields.length === 0 ? [] : ["    headers={", ...fields.map((field) => `        ${field},`), "    },"]),
    ...(body === undefined ? [] : [`    data=json.dumps(${writeLiteral(body, "    ", pythonSyntax)}).encode(),`]),
  ];
  return `${modules.map((name) => `import ${name}`).join("\n")}

request = urllib.request.Request(
${options.join("\n")}
)
with urllib.request.urlopen(request) as response:
    print(response.status${hasResponseBody ? ", json.load(response)" : ""})`;
}

interface LiteralSyntax {
  readonly indent: string;
  /** The constants that the language writes differently from JSON. */
  readonly words: ReadonlyMap<unknown, string>;
}

const javaScriptSyntax: LiteralSyntax = { indent: "  ", words: new Map() };
const pythonSyntax: LiteralSyntax = {
  indent: "    ",
  words: new Map<unknown, string>([
    [true, "True"],
    [false, "False"],
    [null, "None"],
  ]),
};

/** Writes a JSON value as a literal. @param indent the indentation of the line on which the literal starts */
function writeLiteral(value: unknown, indent: string, syntax: LiteralSyntax): string {
  if (typeof value !== "object" || value === null) return syntax.words.get(value) ?? JSON.stringify(value);
  const inner = indent + syntax.indent;
  const lines = Array.isArray(value)
    ? value.map((item) => writeLiteral(item, inner, syntax))
    : Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${writeLiteral(part, inner, syntax)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (lines.length === 0) return open + close;
  return `${open}\n${lines.map((line) => `${inner}${line},\n`).join("")}${indent}${close}`;
}
