import { follow, type OpenApi, type Operation, type Parameter } from "./open-api.ts";

/** Where the page's own script finds the address that it replaces by the one it was loaded from. */
const exampleOrigin = "http://localhost:4010";

/** A line for a shell that sends an example of the operation. A token is taken from `$TOKEN`. */
export function toCurl(document: OpenApi, method: string, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).map((one) => follow(one, document.components.parameters));
  const url = `${exampleOrigin}${document.servers[0]?.url ?? ""}${fill(path, parameters)}`;
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const [example] = Object.values(media?.examples ?? {});
  const needsToken = !operation.security.some((way) => Object.keys(way).length === 0);
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
    const [example] = parameters.find((one) => one.in === "path" && one.name === name)?.schema.examples ?? [];
    return encodeURIComponent(typeof example === "string" ? example : name);
  });
}

function toHeader({ name }: Parameter): string {
  if (name === "Idempotency-Key") return '-H "Idempotency-Key: $(uuidgen)"';
  return `-H ${quote(`${name}: *`)}`;
}

/** As one word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
