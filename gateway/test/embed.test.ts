import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../src/embed.ts";
import { writeSupergraph } from "./helpers/process.ts";
import { composeSupergraph, respondJson, startSubgraph } from "./helpers/subgraphs.ts";
import { toBundle } from "./helpers/trusted-documents.ts";

const silent = { LOG_LEVEL: "silent", ADMIN_PORT: "0" };

test("an embedded gateway serves by the program's server, and closes after the requests that have arrived", async () => {
  const subgraph = await startSubgraph({
    name: "people",
    typeDefs: "type Query { name: String }",
    resolvers: { Query: { name: () => "Ada" } },
  });
  onTestFinished(() => subgraph.close());
  const supergraphFile = writeSupergraph(composeSupergraph([subgraph]));
  const gateway = await createGateway({ supergraphFile, variables: silent });
  const server = createServer(gateway.handler);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  const send = (query: string) =>
    fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query }) });
  await expect.poll(gateway.isReady).toBe(true);
  expect(await (await send("{ name }")).json()).toEqual({ data: { name: "Ada" } });
  // The operation is new: it is not planned yet when the gateway closes.
  const closed = new Promise<void>((resolve) => {
    server.once("request", (request) => request.once("end", () => resolve(gateway.close())));
  });
  const response = await send("{ other: name }");
  expect(await response.json()).toEqual({ data: { other: "Ada" } });
  expect(response.headers.get("connection")).toBe("close");
  server.close();
  await closed;
});

test("behind Express as the documentation describes it, a registered document is found by its id", async () => {
  const subgraph = await startSubgraph({
    name: "people",
    typeDefs: "type Query { name: String }",
    resolvers: { Query: { name: () => "Ada" } },
  });
  onTestFinished(() => subgraph.close());
  const folder = mkdtempSync(join(tmpdir(), "gateway-embedded-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [bundle, settingsFile] = [join(folder, "documents.json"), join(folder, "gateway.yaml")];
  writeFileSync(bundle, toBundle([{ id: "name-1", text: "query Name { name }" }]));
  writeFileSync(settingsFile, `documents: { mode: enforce, file: ${bundle} }`);
  const supergraphFile = writeSupergraph(composeSupergraph([subgraph]));
  const gateway = await createGateway({ supergraphFile, settingsFile, variables: silent });
  onTestFinished(() => gateway.close());
  const documentation = readFileSync(join(import.meta.dirname, "../../docs/run-the-gateway.md"), "utf8");
  const [, paths = ""] = /app\.all\((\[.+\]), gateway\.handler\)/.exec(documentation) ?? [];
  const server = express()
    .all(JSON.parse(paths) as string[], gateway.handler)
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect.poll(gateway.isReady).toBe(true);
  for (const target of ["/graphql/name-1?variables={}", "/graphql?documentId=name-1"])
    expect(await (await fetch(url + target)).json()).toEqual({ data: { name: "Ada" } });
  expect((await fetch(`${url}/graphqlx`)).headers.get("content-type")).toContain("text/html");
});

/** A program whose server passes each request to a gateway, whose subgraph responds with `name`. */
async function startProgram(wrap: (handler: RequestListener) => RequestListener, name = "Ada", settings = "{}") {
  const subgraph = await startSubgraph({
    name: "people",
    typeDefs: "type Query { name: String } type Mutation { login: String }",
    resolvers: { Query: { name: () => name }, Mutation: { login: () => name } },
  });
  onTestFinished(() => subgraph.close());
  const supergraphFile = writeSupergraph(composeSupergraph([subgraph]));
  const settingsFile = join(dirname(supergraphFile), "gateway.yaml");
  writeFileSync(settingsFile, settings);
  const gateway = await createGateway({ supergraphFile, settingsFile, variables: silent });
  onTestFinished(() => gateway.close());
  const server = createServer(wrap(gateway.handler));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  await expect.poll(gateway.isReady).toBe(true);
  const send = (query: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", "accept-encoding": "identity" },
      body: JSON.stringify({ query }),
    });
  return { subgraph, send };
}

test("middleware of the program that replaces `end` can keep the body of a response", async () => {
  const name = "a".repeat(100_000);
  let kept: unknown;
  const keep =
    (handler: RequestListener): RequestListener =>
    (request, response) => {
      const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
      response.end = (...values: unknown[]) => {
        [kept] = values;
        return end(...values);
      };
      handler(request, response);
    };
  const { send } = await startProgram(keep, name);
  const received = await (await send("{ name }")).text();
  // `finish` of the response is emitted.
  await new Promise((resolve) => setImmediate(resolve));
  expect(String(kept)).toHaveLength(received.length);
  expect(JSON.parse(received)).toEqual({ data: { name } });
});

test("what the program said in Vary and Set-Cookie remains, on both paths", async () => {
  const prepare =
    (handler: RequestListener): RequestListener =>
    (request, response) => {
      response.setHeader("Vary", "X-Host").setHeader("Set-Cookie", "host=1");
      handler(request, response);
    };
  const settings = "headers: { all: { response: [{ propagate: { named: set-cookie } }] } }";
  const { subgraph, send } = await startProgram(prepare, "Ada", settings);
  subgraph.fault = async (response, _body, _request, resolve) =>
    respondJson(response, 200, JSON.stringify(await resolve()), { "set-cookie": "session=1" });
  for (const query of ["{ name }", "{ name }", "mutation { login }"]) {
    const { headers } = await send(query);
    expect(headers.get("vary")?.split(", ")).toContain("X-Host");
    expect(headers.getSetCookie()).toEqual(query === "{ name }" ? ["host=1"] : ["host=1", "session=1"]);
  }
});

test("the program's `res.locals` of Express remain, on both paths", async () => {
  const users: unknown[] = [];
  const inExpress = (handler: RequestListener) =>
    express()
      .use((_request, response, next) => {
        response.locals["user"] = "ada";
        response.once("finish", () => users.push(response.locals["user"]));
        next();
      })
      .use(handler);
  const { send } = await startProgram(inExpress);
  for (let i = 0; i < 2; i++) expect(await (await send("{ name }")).json()).toEqual({ data: { name: "Ada" } });
  await expect.poll(() => users).toEqual(["ada", "ada"]);
});

test("an invalid embedding names every problem, and reads no variable of the process", async () => {
  process.env["SUPERGRAPH_FILE"] = "of-the-process.graphql";
  onTestFinished(() => void delete process.env["SUPERGRAPH_FILE"]);
  const variables = { ...silent, PLAN_TIMEOUT_MS: "soon" };
  await expect(createGateway({ variables })).rejects.toMatchObject({
    problems: [expect.stringContaining("SUPERGRAPH_FILE"), expect.stringContaining("PLAN_TIMEOUT_MS")],
  });
  await expect(createGateway({ settingsFile: "missing.yaml" })).rejects.toThrow("missing.yaml cannot be read");
});

test("a gateway that cannot start leaves nothing running in the program", async () => {
  const taken = createServer();
  await once(taken.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void taken.close());
  let polls = 0;
  const supergraphs = createServer((_, response) => {
    polls++;
    response.writeHead(503).end();
  });
  await once(supergraphs.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void supergraphs.close());
  const [adminPort, supergraphPort] = [taken, supergraphs].map((server) => (server.address() as AddressInfo).port);
  const variables = { ...silent, ADMIN_PORT: String(adminPort), SUPERGRAPH_POLL_MS: "100" };
  const created = createGateway({ supergraphUrl: `http://127.0.0.1:${supergraphPort}/`, variables });
  await expect(created).rejects.toThrow(`port ${adminPort}`);
  const pollsBefore = polls;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(polls).toBe(pollsBefore);
});
