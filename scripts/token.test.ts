import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { acquireRunFile } from "./start/run-file.ts";
import { findIssuerUrl } from "./token.ts";

test("standard output contains only the token", async () => {
  const { url, seen } = await startIssuer(200, JSON.stringify({ access_token: "a.b.c", token_type: "Bearer" }));
  const result = await runScript(["ada", "--scope", "orders:read", "--ttl", "5"], url);
  expect(result).toEqual({ code: 0, stdout: "a.b.c\n", stderr: "" });
  expect(seen).toEqual(["POST /token", { user: "ada", scope: "orders:read", expires_in: 5 }]);
});

test("an unknown name ends with exit code 1 and the issuer's message", async () => {
  const error = { error: "invalid_request", error_description: "The user has to be one of ada, grace." };
  const { url } = await startIssuer(400, JSON.stringify(error));
  const result = await runScript(["bob"], url);
  expect(result).toEqual({ code: 1, stdout: "", stderr: "The user has to be one of ada, grace.\n" });
});

test("another server on the issuer's port is reported", async () => {
  const { url } = await startIssuer(404, "<html>");
  const result = await runScript(["ada"], url);
  expect(result).toEqual({
    code: 1,
    stdout: "",
    stderr: `${url} is not a token issuer: it responded with status 404.\n`,
  });
});

test("without an issuer the error names the command that starts one", async () => {
  const result = await runScript(["ada"], "http://127.0.0.1:1");
  expect(result.code).toBe(1);
  expect(result.stdout).toBe("");
  expect(result.stderr).toContain("No response from the token issuer at http://127.0.0.1:1. Start it with: npm start");
});

test("the issuer's URL comes from the variables, else from the running platform, else from the default port", () => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-token-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const find = (environment: Record<string, string>) => findIssuerUrl({ DATA_DIR: folder, ...environment });
  expect(find({})).toBe("http://127.0.0.1:4020");
  acquireRunFile(folder, "http://127.0.0.1:5020");
  expect(find({})).toBe("http://127.0.0.1:5020");
  expect(find({ ISSUER_PORT: "6020" })).toBe("http://127.0.0.1:6020");
  expect(find({ ISSUER_PORT: "6020", ISSUER_URL: "http://issuer:7020/" })).toBe("http://issuer:7020/");
});

async function runScript(argv: readonly string[], issuerUrl: string) {
  const script = new URL("./token.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...argv], {
    env: { ISSUER_URL: issuerUrl },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, stdout, stderr };
}

async function startIssuer(status: number, body: string) {
  const seen: unknown[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push(`${request.method} ${request.url}`, JSON.parse(await text(request)));
    response.writeHead(status).end(body);
  };
  const server = createServer((request, response) => void respond(request, response));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
