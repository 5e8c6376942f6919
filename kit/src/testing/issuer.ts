import { KeyObject, sign } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

export interface TestIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
  /** Issues a token, valid for five minutes unless `claims` override it. */
  token(userId: string, scopes?: readonly string[], claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Signs a token of these JSON texts with ES256, without checking them. */
  sign(header: string, payload: string): string;
  stop(): Promise<void>;
}

/** A token issuer for tests: a new ES256 key, with its JWKS on a free port. */
export async function startTestIssuer(): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "test", alg: "ES256", use: "sig" }] });
  const server = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/json").end(jwks);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const audience = "tributary";

  return {
    issuer,
    audience,
    jwksUrl: `${issuer}/jwks`,
    async token(userId, scopes = [], claims = {}) {
      const nowSeconds = Math.floor(Date.now() / 1000);
      const payload = { iss: issuer, aud: audience, sub: userId, iat: nowSeconds, exp: nowSeconds + 300 };
      return new SignJWT({ ...payload, scope: scopes.join(" "), ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "test" })
        .sign(privateKey);
    },
    sign(header, payload) {
      const signed = [header, payload].map((part) => Buffer.from(part).toString("base64url")).join(".");
      const key = KeyObject.from(privateKey);
      const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
      return `${signed}.${signature.toString("base64url")}`;
    },
    stop: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
