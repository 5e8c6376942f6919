/** Code samples of an operation: one example request in curl, JavaScript and Python. Each runs as shown, with the token in `TOKEN`. */
import { requestPath } from "./addresses.ts";
import { exampleBodyOf, exampleOf } from "./examples.ts";
import { type OpenApi, type Parameter, type PathOperation, requiresToken } from "./open-api/open-api.ts";

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
  const parameters = operation.parameters;
  const body = exampleBodyOf(operation);
  const headers: ExampleHeader[] = [];
  if (body !== undefined) headers.push({ name: "Content-Type", value: body.type });
  for (const parameter of parameters) {
    const isRequiredHeader = parameter.in === "header" && parameter.required;
    if (isRequiredHeader) headers.push({ name: parameter.name, value: exampleOf(parameter) });
  }
  return {
    method: method.toUpperCase(),
    url: `${exampleOrigin}${requestPath(document, fillPath(path, parameters))}`,
    needsToken: requiresToken(operation),
    headers,
    body: body?.value,
    hasResponseBody: operation.responses["204"] === undefined,
  };
}

/** A name in braces. */
const pathParameter = /\{([^}]+)\}/g;

/** The path with the example of each path parameter. */
function fillPath(path: string, parameters: readonly Parameter[]): string {
  return path.replaceAll(pathParameter, (_, name: string) => {
    const parameter = parameters.find((candidate) => candidate.in === "path" && candidate.name === name);
    const example = parameter && exampleOf(parameter);
    return encodeURIComponent(example ?? name);
  });
}

/** A command for a POSIX shell. Time and process id make a new key: `uuidgen` is often not installed. */
function toCurl({ method, url, needsToken, headers, body }: ExampleRequest): string {
  const lines = ["curl -i"];
  if (method !== "GET") lines.push(`-X ${method}`);
  lines.push(quoteForShell(url));
  if (needsToken) lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const { name, value } of headers) {
    lines.push(value === undefined ? `-H "${name}: $(date +%s)-$$"` : `-H ${quoteForShell(`${name}: ${value}`)}`);
  }
  if (body !== undefined) lines.push(`-d ${quoteForShell(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}

/** Quotes a word for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** An ES module for Node and other runtimes with `process.env`. */
function toJavaScript({ method, url, needsToken, headers, body, hasResponseBody }: ExampleRequest): string {
  const fields = headers.map((header) => writeHeaderField(header, "crypto.randomUUID()"));
  if (needsToken) fields.unshift("Authorization: `Bearer ${process.env.TOKEN}`");
  const options: string[] = [];
  if (method !== "GET") options.push(`  method: "${method}",`);
  if (fields.length > 0) options.push("  headers: {", ...fields.map((field) => `    ${field},`), "  },");
  if (body !== undefined) options.push(`  body: JSON.stringify(${writeLiteral(body, "  ", javaScriptSyntax)}),`);
  const init = options.length === 0 ? "" : `, {\n${options.join("\n")}\n}`;
  return `const response = await fetch(${JSON.stringify(url)}${init});
console.log(response.status${hasResponseBody ? ", await response.json()" : ""});`;
}

/** Python's standard library. `urlopen` raises an HTTPError for a status from 400 on. */
function toPython({ method, url, needsToken, headers, body, hasResponseBody }: ExampleRequest): string {
  const fields = headers.map((header) => writeHeaderField(header, "str(uuid.uuid4())"));
  if (needsToken) fields.unshift(`"Authorization": f"Bearer {os.environ['TOKEN']}"`);
  const modules: string[] = [];
  if (body !== undefined || hasResponseBody) modules.push("json");
  if (needsToken) modules.push("os");
  modules.push("urllib.request");
  if (headers.some(({ value }) => value === undefined)) modules.push("uuid");
  const options = [`    ${JSON.stringify(url)},`];
  if (method !== "GET") options.push(`    method="${method}",`);
  if (fields.length > 0) options.push("    headers={", ...fields.map((field) => `        ${field},`), "    },");
  if (body !== undefined) options.push(`    data=json.dumps(${writeLiteral(body, "    ", pythonSyntax)}).encode(),`);
  return `${modules.map((name) => `import ${name}`).join("\n")}

request = urllib.request.Request(
${options.join("\n")}
)
with urllib.request.urlopen(request) as response:
    print(response.status${hasResponseBody ? ", json.load(response)" : ""})`;
}

/** A member of an object in JavaScript, or of a dictionary in Python. @param newKey an expression for a new idempotency key. */
function writeHeaderField({ name, value }: ExampleHeader, newKey: string): string {
  return `"${name}": ${value === undefined ? newKey : JSON.stringify(value)}`;
}

interface LiteralSyntax {
  /** Of one level. */
  readonly indent: string;
  /** The constants that the language writes differently from JSON. */
  readonly constants: ReadonlyMap<unknown, string>;
}

const javaScriptSyntax: LiteralSyntax = { indent: "  ", constants: new Map() };
const pythonSyntax: LiteralSyntax = {
  indent: "    ",
  constants: new Map<unknown, string>([
    [true, "True"],
    [false, "False"],
    [null, "None"],
  ]),
};

/** Writes a JSON value as a literal. @param indent the indentation of the line on which the literal starts */
function writeLiteral(value: unknown, indent: string, syntax: LiteralSyntax): string {
  if (typeof value !== "object" || value === null) return syntax.constants.get(value) ?? JSON.stringify(value);
  const innerIndent = indent + syntax.indent;
  const members = Array.isArray(value)
    ? value.map((item) => writeLiteral(item, innerIndent, syntax))
    : Object.entries(value).map(
        ([name, part]) => `${JSON.stringify(name)}: ${writeLiteral(part, innerIndent, syntax)}`,
      );
  const open = Array.isArray(value) ? "[" : "{";
  const close = Array.isArray(value) ? "]" : "}";
  if (members.length === 0) return open + close;
  const lines = members.map((member) => `${innerIndent}${member},\n`);
  return `${open}\n${lines.join("")}${indent}${close}`;
}
