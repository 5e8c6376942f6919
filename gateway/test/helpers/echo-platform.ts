import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request as sendHttp } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TlsOptions } from "node:tls";
import { expect, onTestFinished } from "vitest";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph, type SubgraphOptions } from "./subgraphs.ts";

export interface EchoPlatform {
  readonly gateway: RunningGateway;
  readonly first: RunningSubgraph;
  readonly second: RunningSubgraph;
  /** By the full and then by the fast path, which must send the same. */
  sendOnBothPaths(query: string, headers?: Record<string, string>): Promise<GraphqlResponse>;
  /** Replaces the file as an editor or Kubernetes does. */
  writeSettings(yaml: string): void;
  /** Sends header lines as they are, also empty ones and several with one name. */
  sendRaw(query: string, lines: readonly (readonly [string, string])[], o?: RawOptions): Promise<RawResponse>;
}

interface RawOptions {
  /** By GET: the query is in the URL. */
  readonly method?: "GET" | "POST";
}

interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read responses of every shape
  readonly body: any;
}

interface Context {
  readonly headers: IncomingHttpHeaders;
}

const read = (_: unknown, { name }: { readonly name: string }, { headers }: Context) => {
  const value = headers[name];
  return value === undefined ? null : String(value);
};

/**
 * Two subgraphs whose fields `one` and `two` return a header that they got. Stopped after the test.
 * @param yaml of gateway.yaml; a function gets the first subgraph.
 * @param tls of the first subgraph.
 */
export async function startEchoPlatform(
  yaml: string | ((first: RunningSubgraph) => string),
  environment: Record<string, string> = {},
  tls?: TlsOptions,
): Promise<EchoPlatform> {
  const subgraphOf = (name: string, field: string, options: Pick<SubgraphOptions, "tls"> = {}) =>
    startSubgraph({
      name,
      ...options,
      typeDefs: `type Query { ${field}(name: String!): String } type Mutation { ${field}Write(name: String!): String }`,
      resolvers: { Query: { [field]: read }, Mutation: { [`${field}Write`]: read } },
    });
  const [first, second] = await Promise.all([
    subgraphOf("first", "one", tls && { tls }),
    subgraphOf("second-one", "two"),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "gateway-settings-"));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, typeof yaml === "string" ? yaml : yaml(first));
  const gateway = await startGateway({
    supergraphSdl: composeSupergraph([first, second]),
    environment: { SETTINGS_FILE: file, ...environment },
  });
  onTestFinished(async () => {
    await gateway.drain();
    await Promise.all([first.close(), second.close()]);
    rmSync(folder, { recursive: true });
  });
  return {
    gateway,
    first,
    second,
    async sendOnBothPaths(query, headers = {}) {
      const full = await gateway.send(query, { headers });
      const fast = await gateway.send(query, { headers });
      expect([gateway.tookFastPath(), fast.status, fast.text]).toEqual([true, full.status, full.text]);
      return fast;
    },
    writeSettings(text) {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    },
    sendRaw: (query, lines, { method = "POST" } = {}) => sendRaw(gateway.url, query, lines, method),
  };
}

function sendRaw(
  url: string,
  query: string,
  lines: readonly (readonly [string, string])[],
  method: "GET" | "POST",
): Promise<RawResponse> {
  const body = method === "POST" ? JSON.stringify({ query }) : "";
  const search = method === "GET" ? `?query=${encodeURIComponent(query)}` : "";
  const content = method === "POST" ? ["content-type", "application/json", "content-length", String(body.length)] : [];
  return new Promise((resolve, reject) => {
    const headers = ["host", new URL(url).host, ...content, ...lines.flat()];
    const request = sendHttp(`${url}/graphql${search}`, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
          body: text === "" ? undefined : JSON.parse(text),
        }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}
