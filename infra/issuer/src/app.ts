import { randomUUID } from "node:crypto";
import type { Log } from "@tributary/kit/process/log";
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from "express";
import { SignJWT } from "jose";
import { demoUsers, knownScopes } from "./demo-users.ts";
import { allowLocalOrigins } from "./cors.ts";
import { algorithm, type SigningKey } from "./signing-key.ts";
import { readTokenRequest, type TokenRequest, TokenRequestError } from "./token-request.ts";

export interface AppOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly key: SigningKey;
  readonly log: Log;
  readonly now?: () => number;
}

const bodyBytesMax = 4_096;
const fieldsMax = 10;

// Express parses a repeated field as an array, which `readTokenRequest` rejects. `extended: false` disables nested fields.
const readForm = express.urlencoded({ extended: false, limit: bodyBytesMax, parameterLimit: fieldsMax });
const readJson = express.json({ limit: bodyBytesMax });

export function createApp(options: AppOptions): express.Express {
  const { issuer, key, log } = options;
  const app = express().disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.use(allowLocalOrigins);
  app
    .route("/.well-known/openid-configuration")
    .get(respondWith(describeIssuer(issuer)))
    .all(rejectOtherMethods("GET, HEAD"));
  app
    .route("/.well-known/jwks.json")
    .get(respondWith({ keys: [key.publicJwk] }))
    .all(rejectOtherMethods("GET, HEAD"));
  app.route("/demo-users").get(respondWith({ demoUsers })).all(rejectOtherMethods("GET, HEAD"));
  app.route("/token").post(readForm, readJson, createTokenHandler(options)).all(rejectOtherMethods("POST"));
  app.use((_request, response) => sendError(response, 404, "not_found", "There is nothing at this path."));
  app.use(createErrorHandler(log));
  return app;
}

function createTokenHandler({ issuer, audience, key, log, now = Date.now }: AppOptions): RequestHandler {
  return async (request, response) => {
    const { userId, scopes, ttlSeconds } = readTokenRequest(request.body);
    const token = await sign({ userId, scopes, ttlSeconds });
    log.info({ userId, scopes, ttlSeconds }, "token issued");
    sendJson(response, 200, {
      access_token: token,
      token_type: "Bearer",
      expires_in: ttlSeconds,
      scope: scopes.join(" "),
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

/** OpenID Connect Discovery 1.0, section 3. The grant type is not a standard one: it needs only a user name, thus development only. */
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

function respondWith(body: unknown): RequestHandler {
  return (_request, response) => sendJson(response, 200, body);
}

function rejectOtherMethods(allowedMethods: string): RequestHandler {
  return (_request, response) => {
    response.setHeader("Allow", allowedMethods);
    sendError(response, 405, "method_not_allowed", `This path supports ${allowedMethods}.`);
  };
}

function createErrorHandler(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const { status, code, message } = toErrorResponse(error);
    if (status === 500) log.error({ err: error }, "internal error");
    sendError(response, status, code, message);
  };
}

interface ErrorResponse {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

function toErrorResponse(error: unknown): ErrorResponse {
  if (error instanceof TokenRequestError) return { status: 400, code: error.code, message: error.message };
  const bodyErrorStatus = statusOfBodyError(error);
  if (bodyErrorStatus === undefined) {
    return { status: 500, code: "server_error", message: "An internal error occurred." };
  }
  if (bodyErrorStatus === 413) {
    const message = `A body has at most ${bodyBytesMax} bytes and ${fieldsMax} fields.`;
    return { status: 413, code: "invalid_request", message };
  }
  return { status: 400, code: "invalid_request", message: "The request body is malformed." };
}

function statusOfBodyError(error: unknown): number | undefined {
  const { expose, status } = error as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === "number" ? status : undefined;
}

function sendError(response: Response, status: number, error: string, description: string): void {
  sendJson(response, status, { error, error_description: description });
}

/** Responses are never cached: tokens by RFC 6749, section 5.1; keys and demo users because they may change with a restart. */
function sendJson(response: Response, status: number, body: unknown): void {
  response.status(status).setHeader("Cache-Control", "no-store").json(body);
}
