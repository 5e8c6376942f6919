/** Who sends a request: user, client program and address. Identified before a cached response is used or an operation runs. */
import type { IncomingMessage } from "node:http";
import { createBoundedMap } from "../collections/bounded-map.ts";
import { AppError } from "../errors/app-error.ts";
import {
  createTokenVerifier,
  type TokenVerifier,
  type TokenVerifierOptions,
  type VerifiedToken,
} from "../identity/token-verifier.ts";
import type { TokenKeysOptions } from "../identity/token-keys.ts";
import { anonymous, type Identity } from "../identity/tokens.ts";
import type { Revocations } from "./revocations.ts";
import type { CallerConfig } from "./caller-config.ts";
import { type ClientAddress, createAddressFinder, toAddressKey } from "./client-address.ts";
import { type ClientProgram, createClientKeyCheck, readClientProgram } from "./client-program.ts";
import { createNetworks } from "./networks.ts";

export interface Caller extends ClientAddress {
  /** `user:42` by a verified token, else `client:web` by a client key, else `address:192.0.2.1` (IPv6: its /64); never by a claimed client name. */
  readonly key: string;
  /** Anonymous also if the process does not verify tokens. */
  readonly identity: Identity;
  readonly client: ClientProgram;
  /** Of the verified token; undefined without one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
}

export interface Callers {
  /**
   * Without verifying a signature. Undefined: call `verify`. @throws AppError UNAUTHENTICATED for a token that was rejected in the last 5 s, or is
   * revoked.
   */
  identify(request: IncomingMessage): Caller | undefined;
  /** After `chargeVerification`. @throws AppError UNAUTHENTICATED; SERVICE_UNAVAILABLE if the issuer's keys cannot be fetched. */
  verify(request: IncomingMessage): Promise<Caller>;
  /** By the client key or the address, never by the token, which is not verified. */
  callerWithoutToken(request: IncomingMessage): Caller;
  addressKeyOf(request: IncomingMessage): string;
}

/** `onKeysError` is also called if a request gets SERVICE_UNAVAILABLE because no keys are known. */
export type CallersOptions = CallerConfig &
  Omit<TokenKeysOptions, "jwksUrl"> &
  Pick<TokenVerifierOptions, "now"> & {
    readonly revocations?: Pick<Revocations, "isRevoked"> | undefined;
  };

const addressesMax = 10_000;

const userIdCharsMax = 255;

/** Any (OpenID Connect Core, section 2, `sub`): only services know what the ids of their users are. */
function isAcceptedId(text: string): boolean {
  return text !== "" && text.length <= userIdCharsMax;
}

export function createCallers(o: CallersOptions): Callers {
  const findAddress = createAddressFinder(createNetworks(o.trustedProxies));
  const verifier: TokenVerifier | undefined = o.tokens && createTokenVerifier({ ...o, ...o.tokens, isAcceptedId });
  const findClientByKey = createClientKeyCheck(o.clientKeys);
  const keysByAddress = createBoundedMap<string>({ entriesMax: addressesMax });

  function toKnownAddressKey(address: string): string {
    const known = keysByAddress.get(address);
    if (known !== undefined) return known;
    const key = toAddressKey(address);
    keysByAddress.set(address, key);
    return key;
  }

  function keyOf(token: VerifiedToken | undefined, clientByKey: string | undefined, address: string): string {
    if (token !== undefined) return token.userKey;
    if (clientByKey !== undefined) return `client:${clientByKey}`;
    return toKnownAddressKey(address);
  }

  function createCaller(request: IncomingMessage, token: VerifiedToken | undefined): Caller {
    const { headers } = request;
    const { address, protocol } = findAddress(request);
    const clientByKey = findClientByKey(headers);
    return {
      key: keyOf(token, clientByKey, address),
      address,
      protocol,
      identity: token === undefined ? anonymous : token.identity,
      // The issuer signs the name in a token; the key of a page or an app can be extracted.
      client: readClientProgram(headers, token?.clientName ?? clientByKey),
      claims: token?.claims,
    };
  }

  /** The cache of verified tokens is not asked: a revocation takes effect with the next request. */
  function requireNotRevoked({ identity }: VerifiedToken): void {
    if (o.revocations?.isRevoked(identity.userId)) throw new AppError("UNAUTHENTICATED", "The token has been revoked.");
  }

  return {
    identify(request) {
      const { authorization } = request.headers;
      if (verifier === undefined || authorization === undefined) return createCaller(request, undefined);
      const result = verifier.find(authorization, request.socket);
      if (result instanceof AppError) throw result;
      if (result === undefined) return undefined;
      requireNotRevoked(result);
      return createCaller(request, result);
    },
    async verify(request) {
      try {
        const token = await verifier?.verify(request.headers.authorization ?? "");
        if (token) requireNotRevoked(token);
        return createCaller(request, token);
      } catch (error) {
        if (error instanceof AppError && error.dependency === "token-issuer") o.onKeysError?.(error.cause);
        throw error;
      }
    },
    callerWithoutToken: (request) => createCaller(request, undefined),
    addressKeyOf: (request) => toKnownAddressKey(findAddress(request).address),
  };
}
