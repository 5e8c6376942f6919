// The service under test: its contract, its address, and how a rule calls it.
import { randomUUID } from "node:crypto";
import type { TestIssuer } from "@tributary/kit/testing/issuer";
import type { ContractOperation } from "../../supergraph/contract/contract-operations.ts";
import type { RestPaths } from "../../supergraph/contract/rest-paths.ts";
import type { Json } from "@tributary/kit/json/json";
import { type Exchange, exchange } from "./exchange.ts";
import type { Drain } from "./drain.ts";

/** An operation of one version, with the document in which its references are. */
export interface RestOperation extends ContractOperation {
  readonly document: Json;
}

export interface ServiceContract {
  readonly name: string;
  readonly sdl: string;
  readonly operations: readonly RestOperation[];
  /** As the team's tool has generated it, without the overlay. Undefined for a service of this repository, whose code generates it. */
  readonly generatedDocument: Json | undefined;
  readonly rest: RestPaths;
  readonly graphqlPath: string;
  readonly healthPath: string;
  readonly scopes: readonly string[];
}

export interface RunningService {
  readonly url: string;
  readonly feed: { readonly url: string; readonly key: string } | undefined;
  /** Undefined for a service that was not started here: tokens of a test issuer would be invalid. */
  readonly issuer: TestIssuer | undefined;
  /** Stops the service, at the first call. Undefined for one that was not started here. */
  readonly drain: (() => Promise<Drain>) | undefined;
}

export interface RequestOptions {
  /** The id of the user in the token; undefined for an anonymous request. */
  readonly as?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Subject extends ServiceContract, RunningService {
  send(method: string, path: string, options?: RequestOptions): Promise<Exchange>;
  graphql(query: string, variables?: object, options?: RequestOptions): Promise<Exchange>;
  /** For a write: a user may often have only one resource of a kind. */
  nextUser(): number;
  tokenOf(user: number, claims?: Json): Promise<string>;
  /** A key for what several rules need, such as an example that was sent. */
  remember<T>(key: object | string, find: () => Promise<T>): Promise<T>;
}

/** Long enough for the commands that a failure prints. */
const tokenSeconds = 3_600;
/** More than the seeded ones have. */
const firstNewUser = 1_001;

export function createSubject(contract: ServiceContract, service: RunningService): Subject {
  const { issuer, url } = service;
  let newUser = firstNewUser;
  const found = new Map<unknown, Promise<unknown>>();
  async function tokenOf(user: number, claims: Json = {}): Promise<string> {
    if (issuer === undefined) throw new Error("There is no test issuer.");
    const exp = Math.floor(Date.now() / 1_000) + tokenSeconds;
    return issuer.token(String(user), contract.scopes, { exp, jti: randomUUID(), ...claims });
  }
  async function send(method: string, path: string, options: RequestOptions = {}): Promise<Exchange> {
    const { as, headers = {}, body } = options;
    const authorization = as === undefined ? {} : { authorization: `Bearer ${await tokenOf(as)}` };
    return exchange({ method, url: `${url}${path}`, headers: { ...authorization, ...headers }, body });
  }
  return {
    ...contract,
    ...service,
    send,
    nextUser: () => newUser++,
    tokenOf,
    graphql(query, variables = {}, { headers, ...options } = {}) {
      const json = { accept: "application/json", "content-type": "application/json" };
      const body = JSON.stringify({ query, variables });
      return send("POST", contract.graphqlPath, { body, ...options, headers: { ...json, ...headers } });
    },
    remember(key, find) {
      const value = found.get(key) ?? find();
      found.set(key, value);
      return value as ReturnType<typeof find>;
    },
  };
}
