import { resolveReference, type OpenApi, type Operation, type Parameter } from "./open-api.ts";

/** In a browser, `docs.js` replaces it by the origin of the page. */
const exampleOrigin = "http://localhost:4010";

/** A shell command that sends an example request. The token is in `$TOKEN`. */
export function toCurl(document: OpenApi, method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((parameter) =>
    resolveReference(parameter, document.components.parameters),
  );
  const url = `${exampleOrigin}${document.servers[0]?.url ?? ""}${fill(path, parameters)}`;
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const [example] = Object.values(media?.examples ?? {});
  const needsToken = !operation.security.some((requirement) => Object.keys(requirement).length === 0);
  return [
    "curl -i",
    ...(method === "get" ? [] : [`-X ${method.toUpperCase()}`]),
    quote(url),
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...parameters.filter(({ in: where, required }) => where === "header" && required).map(toHeader),
    ...(type === undefined ? [] : [`-H ${quote(`Content-Type: ${type}`)}`]),
    ...(example === undefined ? [] : [`-d ${quote(JSON.stringify(example.value))}`]),
  ].join(" \\\n  ");
}

function fill(path: string, parameters: readonly Parameter[]): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const [example] =
      parameters.find((parameter) => parameter.in === "path" && parameter.name === name)?.schema.examples ?? [];
    return encodeURIComponent(typeof example === "string" ? example : name);
  });
}

function toHeader({ name }: Parameter): string {
  if (name === "Idempotency-Key") return '-H "Idempotency-Key: $(uuidgen)"';
  return `-H ${quote(`${name}: *`)}`;
}

/** Quotes a word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
