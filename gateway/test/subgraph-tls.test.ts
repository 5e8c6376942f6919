import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { validateSettings } from "../src/settings/validate.ts";
import { type Certificate, type CertificateAuthority, createAuthority } from "./helpers/certificates.ts";
import { isMirrored } from "./helpers/compare-paths.ts";
import { type EchoPlatform, startEchoPlatform } from "./helpers/echo-platform.ts";
import { respondJson } from "./helpers/subgraphs.ts";

/** As an intermediate one: only OpenSSL reads those. */
const brokenCertificate = "\n-----BEGIN CERTIFICATE-----\nMIIBroken\n-----END CERTIFICATE-----\n";
const query = '{ one(name: "x-a") }';
const headers = { "x-a": "1" };
const right = { data: { one: "1" } };
let authority: CertificateAuthority;
let other: CertificateAuthority;
let server: Certificate;
let client: Certificate;

beforeAll(async () => {
  [authority, other] = await Promise.all([createAuthority("test authority"), createAuthority("other authority")]);
  [server, client] = await Promise.all([authority.issue("subgraph"), authority.issue("gateway")]);
});

/** With the files of `ca`, and of the client certificate. */
function writeFiles(certificate = client, ca = authority.cert) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { ca: join(folder, "ca.pem"), cert: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const write = (texts: Partial<Record<keyof typeof files, string>>) => {
    for (const [name, text] of Object.entries(texts)) {
      const path = files[name as keyof typeof files];
      writeFileSync(`${path}.new`, text);
      renameSync(`${path}.new`, path);
    }
  };
  write({ ca, ...certificate });
  return { ...files, write };
}

const forward = "headers: { all: { request: [{ propagate: { named: x-a } }] } }";
const yamlOf = (tls: object, key = "subgraphs: { first") =>
  `${forward}\n${key}: { tls: ${JSON.stringify(tls)} }${key.endsWith("first") ? " }" : ""}\n`;

async function failureOf({ gateway }: EchoPlatform): Promise<unknown> {
  const { body } = await gateway.send(query, { headers });
  expect(body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_UNAVAILABLE" } }]);
  const failure = gateway.observations.findLast(({ kind }) => kind === "subgraph-fetch-failed");
  return failure && "cause" in failure ? String(failure.cause) : undefined;
}

describe("an https subgraph", () => {
  test.each(["subgraphs: { first", "all"])(
    "is called if an authority of tls.ca has issued its certificate (%s)",
    async (key) => {
      const { ca } = writeFiles();
      const { first, second, sendOnBothPaths } = await startEchoPlatform(yamlOf({ ca }, key), {}, server);
      const sockets = new Set<TLSSocket>();
      first.fault = (response, _body, request, resolve) => {
        sockets.add(request.socket as TLSSocket);
        void resolve().then((result) => respondJson(response, 200, JSON.stringify(result)));
      };
      const { body } = await sendOnBothPaths('{ one(name: "x-a") two(name: "x-a") }', headers);
      expect(body).toEqual({ data: { one: "1", two: "1" } });
      expect(second.url).toMatch(/^http:/);
      const [socket] = sockets;
      // The replica's address is resolved by the gateway, and the server still gets the name (RFC 6066, 3), and HTTP/1.1 (RFC 7301).
      expect(socket).toMatchObject({ servername: "localhost", encrypted: true });
      expect(first.requests[0]?.headers.host).toBe(new URL(first.url).host);
    },
  );

  test("is also called by its IP address", async () => {
    const { ca } = writeFiles();
    const platform = await startEchoPlatform(
      ({ url }) =>
        `${forward}\nsubgraphs: { first: { urls: ["${url.replace("localhost", "127.0.0.1")}"], tls: { ca: "${ca}" } } }`,
      {},
      server,
    );
    expect((await platform.sendOnBothPaths(query, headers)).body).toEqual(right);
  });

  test("is not called if no accepted authority has issued its certificate, or for another name; the log has the reason", async () => {
    expect(await failureOf(await startEchoPlatform(forward, {}, server))).toMatch(
      /unable to (verify|get local issuer)/,
    );
    const { ca } = writeFiles(client, other.cert);
    expect(await failureOf(await startEchoPlatform(yamlOf({ ca }), {}, server))).toMatch(
      /unable to (verify|get local issuer)/,
    );
    const byOtherName = await startEchoPlatform(
      yamlOf({ ca: writeFiles().ca }),
      {},
      await authority.issue("subgraph", "other.example"),
    );
    expect(await failureOf(byOtherName)).toMatch(/does not match certificate's altnames/);
  });
});

describe("a subgraph that demands a client certificate", () => {
  const demanding = (): object => ({ ...server, ca: [authority.cert, other.cert], requestCert: true });

  test("gets the one of tls.cert; without it, its fields are errors", async () => {
    const { ca, cert, key } = writeFiles();
    const platform = await startEchoPlatform(yamlOf({ ca, cert, key }), {}, demanding());
    expect((await platform.sendOnBothPaths(query, headers)).body).toEqual(right);
    expect(await failureOf(await startEchoPlatform(yamlOf({ ca }), {}, demanding()))).toMatch(
      /alert|reset|closed|disconnected/i,
    );
  });

  test("gets a renewed one without a restart; an unusable one changes nothing, and is reported with its file", async () => {
    const files = writeFiles();
    const { ca, cert, key, write } = files;
    const { gateway, first, sendOnBothPaths } = await startEchoPlatform(yamlOf({ ca, cert, key }), {}, demanding());
    const callers: string[] = [];
    first.fault = (response, _body, request, resolve) => {
      if (!isMirrored(request.headers)) callers.push(callerOf(request));
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result)));
    };
    await sendOnBothPaths(query, headers);
    write({ cert: "no certificate" });
    await gateway.seen("settings-rejected");
    expect(gateway.observations.findLast(({ kind }) => kind === "settings-rejected")).toMatchObject({
      problems: [
        expect.stringMatching(
          /gateway\.yaml:\d+: subgraphs\.first\.tls\.cert: .*tls\.crt contains no certificate in PEM/,
        ),
      ],
    });
    expect((await gateway.send(query, { headers })).body).toEqual(right);
    const rejections = () => gateway.observations.filter(({ kind }) => kind === "settings-rejected");
    const before = rejections().length;
    write({ cert: client.cert + brokenCertificate });
    await expect.poll(() => rejections().length).toBeGreaterThan(before);
    expect((await gateway.send(query, { headers })).body).toEqual(right);
    rmSync(key);
    await gateway.seen("settings-unreadable");
    expect((await gateway.send(query, { headers })).body).toEqual(right);
    write(await other.issue("renewed gateway"));
    await gateway.seen("settings-loaded");
    expect((await sendOnBothPaths(query, headers)).body).toEqual(right);
    expect(new Set(callers.slice(0, 5))).toEqual(new Set(["gateway"]));
    expect(callers.slice(5)).toEqual(["renewed gateway", "renewed gateway"]);
  });
});

test("settings whose files are written after them take effect then, and are reported once until then", async () => {
  const { ca, cert, write } = writeFiles();
  const { gateway, sendOnBothPaths, writeSettings } = await startEchoPlatform(yamlOf({ ca }), {}, server);
  rmSync(cert);
  writeSettings(yamlOf({ ca, cert, key: join(cert, "../tls.key") }));
  await gateway.seen("settings-rejected");
  write({ cert: client.cert });
  await gateway.seen("settings-loaded");
  expect(gateway.observations.filter(({ kind }) => kind === "settings-rejected")).toHaveLength(1);
  expect((await sendOnBothPaths(query, headers)).body).toEqual(right);
});

test("validate names files that are missing, unusable or do not belong together, with their lines", () => {
  const { ca, cert, key, write } = writeFiles();
  const settings = join(ca, "../gateway.yaml");
  const problemsOf = (tls: object) => {
    writeFileSync(settings, `subgraphs:\n  first:\n    tls: ${JSON.stringify(tls)}\n`);
    return validateSettings({ SUPERGRAPH_FILE: undefined, SUPERGRAPH_URL: "http://a/" }, settings).join("\n");
  };
  expect(problemsOf({ ca, cert, key })).toBe("");
  expect(problemsOf({ ca: "/nowhere/ca.pem" })).toMatch(
    /gateway\.yaml:3: subgraphs\.first\.tls\.ca: \/nowhere\/ca\.pem cannot be read: ENOENT/,
  );
  expect(problemsOf({ ca: key })).toMatch(/tls\.ca: .*tls\.key contains no certificate in PEM/);
  expect(problemsOf({ cert, key: ca })).toMatch(
    /tls\.key: .*ca\.pem contains no private key without a passphrase in PEM/,
  );
  writeFileSync(`${cert}.chain`, client.cert + brokenCertificate);
  expect(problemsOf({ cert: `${cert}.chain`, key })).toMatch(
    /gateway\.yaml:3: subgraphs\.first\.tls: OpenSSL refuses them: /,
  );
  expect(problemsOf({ cert })).toMatch(/tls: needs both cert and key, or neither/);
  write({ key: server.key });
  expect(problemsOf({ cert, key })).toMatch(/tls\.key is not the key of .*tls\.crt/);
});

function callerOf({ socket }: IncomingMessage): string {
  return String((socket as TLSSocket).getPeerCertificate().subject?.CN);
}
