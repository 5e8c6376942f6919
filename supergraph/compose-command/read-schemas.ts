import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { collectBody } from "@tributary/kit/http/receive-body";
import { ConfigError } from "@tributary/kit/process/env";
import type { SubgraphSource } from "../subgraphs.ts";
import type { SubgraphInput } from "./subgraph-inputs.ts";

interface SchemaLimits {
  /** Of one subgraph, body included. */
  readonly timeoutMs: number;
  readonly bodyBytesMax: number;
}

const defaultLimits: SchemaLimits = { timeoutMs: 10_000, bodyBytesMax: 10_000_000 };
const messagesMax = 3;
const messageCharactersMax = 500;

/** From files, and from subgraphs that run. @param folder to which the files in messages are relative. @throws ConfigError with every problem. */
export async function readSchemas(
  inputs: readonly SubgraphInput[],
  folder: string,
  limits = defaultLimits,
): Promise<readonly SubgraphSource[]> {
  const results = await Promise.allSettled(inputs.map((input) => readSchema(input, folder, limits)));
  const problems = results.flatMap((result, i) =>
    result.status === "rejected" ? [`${inputs[i]?.name}: ${describe(result.reason)}`] : [],
  );
  if (problems.length > 0) throw new ConfigError(problems, "These schemas cannot be read:");
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

async function readSchema(
  { name, schema, routingUrl }: SubgraphInput,
  folder: string,
  limits: SchemaLimits,
): Promise<SubgraphSource> {
  // Errors name the owner: here the subgraph.
  const source = { name, url: routingUrl ?? "", folder, owner: name };
  switch (schema.kind) {
    case "text":
      return { ...source, file: name, sdl: schema.sdl };
    case "file":
      return { ...source, file: relative(folder, schema.path), sdl: readFileSync(schema.path, "utf8") };
    case "url":
      return { ...source, file: schema.url, sdl: await fetchSchema(schema.url, schema.headers, limits) };
  }
}

interface ServiceResponse {
  readonly data?: { readonly _service?: { readonly sdl?: unknown } | null } | null;
  readonly errors?: readonly { readonly message?: unknown }[];
}

/** Apollo Federation, "Subgraph specification": `_service`. @throws Error whose message says what to do. */
async function fetchSchema(
  url: string,
  headers: Readonly<Record<string, string>>,
  { timeoutMs, bodyBytesMax }: SchemaLimits,
): Promise<string> {
  const fail = (what: string) => new Error(`${url} ${what}`);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    body: JSON.stringify({ query: "{ _service { sdl } }" }),
    // It could send the headers to another host.
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw fail(isTimeout(error) ? `did not respond within ${timeoutMs} ms` : `cannot be reached: ${describe(error)}`);
  });
  const { status } = response;
  if (status >= 300 && status < 400)
    throw fail(`redirects to ${response.headers.get("location")}: give that URL if it is the subgraph`);
  const chunks = response.body as unknown as AsyncIterable<Buffer>;
  const body = await collectBody(chunks, bodyBytesMax).catch((error: unknown) => {
    throw fail(isTimeout(error) ? `did not respond within ${timeoutMs} ms` : `did not respond: ${describe(error)}`);
  });
  const { data, errors } = parseResponse(body);
  const sdl = data?._service?.sdl;
  if (typeof sdl === "string" && sdl.trim() !== "") return sdl;
  const messages = Array.isArray(errors) ? errors.slice(0, messagesMax).map(({ message }) => String(message)) : [];
  if (messages.length > 0) throw fail(`responds with ${status}: ${messages.join("; ").slice(0, messageCharactersMax)}`);
  throw fail(`responds with ${status} and without a schema: is it the GraphQL endpoint of a subgraph?`);
}

/** Empty for a body that is no JSON object. */
function parseResponse(body: Buffer): ServiceResponse {
  try {
    return Object(JSON.parse(body.toString("utf8"))) as ServiceResponse;
  } catch {
    return {};
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** The message of `fetch` is "fetch failed"; its cause says why. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (cause instanceof AggregateError) return cause.errors.map(describe).join(", ");
  return cause instanceof Error ? cause.message : message;
}
