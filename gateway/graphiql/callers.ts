export interface Caller {
  readonly name: string;
  readonly userId: string;
  readonly scopes: readonly string[];
}

export interface Callers {
  readonly all: readonly Caller[];
  /** A caller's name, or "anonymous". */
  chosen(): string;
  choose(name: string): void;
  /**
   * Of the header `Authorization`; undefined for "anonymous". @throws Error, with a message for the reader of the page, if the issuer sends no token.
   */
  authorization(): Promise<string | undefined>;
}

export interface CallersOptions {
  /** Without a trailing slash. */
  readonly issuer: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Stores the choice across reloads. */
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export const anonymous = "anonymous";
const firstUserId = "1";
const storageKey = "tributary:caller";
const issuerTimeoutMs = 3_000;
/** A token that expires sooner is replaced before it is used, since a request takes time. */
const refreshBeforeMs = 60_000;

/** User 1 is chosen by default. @throws Error if the issuer does not respond. */
export async function loadCallers(o: CallersOptions): Promise<Callers> {
  const { demoUsers: all } = (await fetchJson(o, "/demo-users")) as { demoUsers: readonly Caller[] };
  const defaultName = all.find(({ userId }) => userId === firstUserId)?.name ?? anonymous;
  const isKnown = (name: string) => name === anonymous || all.some((caller) => caller.name === name);
  const stored = o.storage.getItem(storageKey);
  let chosen = stored !== null && isKnown(stored) ? stored : defaultName;
  const tokenOf = createTokenSource(o);
  return {
    all,
    chosen: () => chosen,
    choose(name) {
      chosen = isKnown(name) ? name : anonymous;
      o.storage.setItem(storageKey, chosen);
    },
    async authorization() {
      if (chosen === anonymous) return undefined;
      return `Bearer ${await tokenOf(chosen)}`;
    },
  };
}

interface CachedToken {
  readonly token: Promise<string>;
  refreshAtMs: number;
}

/** One token per caller. Requests that need it while it is fetched wait for the same one. */
function createTokenSource(o: CallersOptions): (name: string) => Promise<string> {
  const tokens = new Map<string, CachedToken>();

  function fetchToken(name: string): CachedToken {
    // `load` uses `cached` only after its first await.
    const cached: CachedToken = { token: load(), refreshAtMs: Number.POSITIVE_INFINITY };
    async function load(): Promise<string> {
      try {
        const body = await fetchJson(o, "/token", { user: name });
        const response = body as { access_token: string; expires_in: number };
        cached.refreshAtMs = o.now() + response.expires_in * 1_000 - refreshBeforeMs;
        return response.access_token;
      } catch (error) {
        tokens.delete(name);
        throw error;
      }
    }
    return cached;
  }

  return (name) => {
    const known = tokens.get(name);
    if (known && o.now() < known.refreshAtMs) return known.token;
    const cached = fetchToken(name);
    tokens.set(name, cached);
    return cached.token;
  };
}

async function fetchJson({ issuer, fetch }: CallersOptions, path: string, body?: unknown): Promise<unknown> {
  const init: RequestInit = { signal: AbortSignal.timeout(issuerTimeoutMs) };
  if (body !== undefined) {
    init.method = "POST";
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  const response = await fetch(issuer + path, init).catch(() => undefined);
  if (!response)
    throw new Error(
      `The token issuer does not respond at ${issuer}. Start it with npm start, or choose the caller "anonymous".`,
    );
  if (!response.ok) throw new Error(`The token issuer at ${issuer} responded with ${response.status} for ${path}.`);
  return response.json();
}
