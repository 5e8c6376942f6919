import { randomUUID } from "node:crypto";
import type { Log } from "@tributary/kit/process/log";
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { SignJWT } from "jose";
import { cast, knownScopes } from "./cast.ts";
import { allowLocalPages } from "./local-pages.ts";
import { algorithm, type SigningKey } from "./signing-key.ts";
import { readTokenRequest, type TokenRequest, TokenRequestError } from "./token-request.ts";

export interface AppOptions {
  /** `iss` of every token, and the base of the addresses in the discovery document. */
  readonly issuer: string;
  readonly audience: string;
  readonly key: SigningKey;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const bodyBytesMax = 4_096;
const fieldsMax = 10;

/** The issuer's doors: discovery, keys, tokens for whoever asks, and who there is to ask for. */
export function createApp(o: AppOptions): express.Express {
  const app = express().disable("x-powered-by").disable("etag").enable("case sensitive routing");
  const json =
    (body: unknown): RequestHandler =>
    (_request, response) =>
      answer(response, 200, body);
  app.use(allowLocalPages);
  app
    .route("/.well-known/openid-configuration")
    .get(json(describeIssuer(o.issuer)))
    .all(onlyBy("GET, HEAD"));
  app
    .route("/.well-known/jwks.json")
    .get(json({ keys: [o.key.publicJwk] }))
    .all(onlyBy("GET, HEAD"));
  app.route("/cast").get(json({ cast })).all(onlyBy("GET, HEAD"));
  app.route("/token").post(readForm, readJson, createTokenHandler(o)).all(onlyBy("POST"));
  app.use((_request, response) => refuse(response, 404, "not_found", "There is nothing here."));
  app.use(createErrorHandler(o.log));
  return app;
}

// A duplicated field comes as a list, which no field accepts; nested names stay flat.
const readForm = express.urlencoded({ extended: false, limit: bodyBytesMax, parameterLimit: fieldsMax });
const readJson = express.json({ limit: bodyBytesMax });

function createTokenHandler({ issuer, audience, key, log, now = Date.now }: AppOptions): RequestHandler {
  return async (request, response) => {
    const wanted = readTokenRequest(request.body);
    const token = await sign(wanted);
    log.info({ userId: wanted.userId, scopes: wanted.scopes, ttlSeconds: wanted.ttlSeconds }, "token issued");
    const scope = wanted.scopes.join(" ");
    answer(response, 200, {
      access_token: token,
      token_type: "Bearer",
      expires_in: wanted.ttlSeconds,
      scope,
    });
  };

  function sign({ userId, scopes, ttlSeconds }: TokenRequest): Promise<string> {
    const nowSeconds = Math.floor(now() / 1_000);
    return new SignJWT({ scope: scopes.join(" ") })
      .setProtectedHeader({ alg: algorithm, kid: key.publicJwk.kid, typ: "JWT" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(userId)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + ttlSeconds)
      .setJti(randomUUID())
      .sign(key.privateKey);
  }
}

/** OpenID Connect Discovery 1.0, section 3. The grant is our own: a name is enough, which is why this is for development only. */
function describeIssuer(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    token_endpoint: `${issuer}/token`,
    token_endpoint_auth_methods_supported: ["none"],
    grant_types_supported: ["urn:tributary:development"],
    response_types_supported: ["none"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [algorithm],
    scopes_supported: knownScopes,
  };
}

const onlyBy =
  (allow: string): RequestHandler =>
  (_request, response) => {
    response.setHeader("Allow", allow);
    refuse(response, 405, "method_not_allowed", `This answers ${allow}.`);
  };

/** Express tells a handler of errors by its four parameters. */
function createErrorHandler(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const { status, code, message } = toRefusal(error);
    if (status === 500) log.error({ err: error }, "a bug");
    refuse(response, status, code, message);
  };
}

function toRefusal(error: unknown): { readonly status: number; readonly code: string; readonly message: string } {
  if (error instanceof TokenRequestError) return { status: 400, code: error.code, message: error.message };
  const status = statusOfBodyError(error);
  if (status === undefined) return { status: 500, code: "server_error", message: "Something went wrong here." };
  if (status !== 413) return { status: 400, code: "invalid_request", message: "The body cannot be read." };
  const message = `A body has at most ${bodyBytesMax} bytes and ${fieldsMax} fields.`;
  return { status, code: "invalid_request", message };
}

/** The body parsers mark what the caller did wrong with `expose` and a status. */
function statusOfBodyError(error: unknown): number | undefined {
  const { expose, status } = error as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === "number" ? status : undefined;
}

function refuse(response: Response, status: number, error: string, description: string): void {
  answer(response, status, { error, error_description: description });
}

/** RFC 6749, section 5.1: nothing of a token endpoint is to be stored; keys and cast change with a restart. */
function answer(response: Response, status: number, body: unknown): void {
  response.status(status).setHeader("Cache-Control", "no-store").json(body);
}
