import { randomUUID } from "node:crypto";
import { createBody, type RunnableExample } from "./documents.ts";
import type { RunningRestProxy } from "./rest-proxy.ts";
import type { Services } from "./services.ts";

/** Overrides of an example that produce another status. */
interface Overrides {
  readonly at?: RunningRestProxy;
  readonly path?: string;
  readonly query?: string;
  readonly scopes?: readonly string[];
  readonly onlyScopes?: boolean;
  /** An undefined value removes the header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
}

/** Sends examples through a REST proxy. */
export interface ExampleSender {
  /** Sends the example with overrides. If it follows another example, that one is sent first. */
  send(example: RunnableExample, overrides?: Overrides): Promise<Response>;
  /** The path of the example. If it follows another example, that one is sent, and creates the resource. */
  pathOf(example: RunnableExample): Promise<string>;
}

/** @param o.examples one of each operation in each version. */
export function createExampleSender(o: {
  readonly services: Services;
  readonly proxy: RunningRestProxy;
  readonly examples: readonly RunnableExample[];
}): ExampleSender {
  async function send(example: RunnableExample, overrides: Overrides = {}): Promise<Response> {
    const { at = o.proxy, query } = overrides;
    // Other proxies reject the request before it reaches a resource, so the resource need not exist.
    const path = overrides.path ?? (at === o.proxy ? await pathOf(example) : example.path);
    const { method, version } = example;
    const body = "body" in overrides ? overrides.body : JSON.stringify(createBody(example));
    return fetch(`${at.url}/v${version}${query === undefined ? path : withQuery(path, query)}`, {
      method,
      headers: await listHeaders(o.services, example, overrides, body),
      ...(body === undefined ? {} : { body }),
    });
  }

  async function pathOf({ version, path, follows }: RunnableExample): Promise<string> {
    if (follows === undefined) return path;
    const created = await send(o.examples.find((one) => one.id === follows && one.version === version)!);
    const location = created.headers.get("location") ?? `no Location: ${await created.text()}`;
    const [, , ...rest] = path.split("/").slice(1);
    return [location.replace(/^\/v\d+/, ""), ...rest].join("/");
  }

  return { send, pathOf };
}

async function listHeaders(
  services: Services,
  example: RunnableExample,
  { headers, scopes, onlyScopes }: Overrides,
  body: string | undefined,
): Promise<[name: string, value: string][]> {
  const type = example.method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const token =
    example.as === undefined
      ? undefined
      : await services.tokenOf(example.as, [...(example.scopes ?? []), ...(scopes ?? [])], onlyScopes);
  const all: Record<string, string | undefined> = {
    ...(body === undefined ? {} : { "Content-Type": type }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...example.headers,
    ...("Idempotency-Key" in (example.headers ?? {}) ? { "Idempotency-Key": randomUUID() } : {}),
    ...headers,
  };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

export function withQuery(path: string, query: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}
