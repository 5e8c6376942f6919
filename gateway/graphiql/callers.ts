/** Somebody whom the local issuer gives tokens for. */
export interface Caller {
  readonly name: string;
  readonly userId: string;
  readonly scopes: readonly string[];
}

/** Who asks: the callers of the local issuer, the chosen one, and their token. */
export interface Callers {
  readonly all: readonly Caller[];
  /** A caller's name, or "nobody". */
  chosen(): string;
  choose(name: string): void;
  /**
   * The header of the chosen caller, undefined for nobody.
   * @throws Error fit to be read when the issuer gives no token.
   */
  authorization(): Promise<string | undefined>;
}

export interface CallersOptions {
  /** The issuer's address, without a slash at the end. */
  readonly issuer: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Keeps the choice over a reload. */
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export const nobody = "nobody";
const firstUserId = "1";
const storageKey = "tributary:caller";
const issuerTimeoutMs = 3_000;
/** A token that ends sooner is replaced before it is used: a request may take a while. */
const refreshBeforeMs = 60_000;

/**
 * Reads the issuer's cast. At first user 1 is chosen.
 * @throws Error when the issuer does not answer.
 */
export async function loadCallers(o: CallersOptions): Promise<Callers> {
  const { cast } = (await ask(o, "/cast")) as { cast: readonly Caller[] };
  const usual = cast.find(({ userId }) => userId === firstUserId)?.name ?? nobody;
  const isKnown = (name: string) => name === nobody || cast.some((caller) => caller.name === name);
  const kept = o.storage.getItem(storageKey);
  let chosen = kept !== null && isKnown(kept) ? kept : usual;
  const tokenOf = createTokenSource(o);
  return {
    all: cast,
    chosen: () => chosen,
    choose(name) {
      chosen = isKnown(name) ? name : nobody;
      o.storage.setItem(storageKey, chosen);
    },
    authorization: async () => (chosen === nobody ? undefined : `Bearer ${await tokenOf(chosen)}`),
  };
}

interface KeptToken {
  readonly token: Promise<string>;
  /** Until the answer is there nobody knows: then it is under way, and shared. */
  refreshAtMs: number;
}

/** One token a caller at a time; whoever asks while one is being fetched gets that one. */
function createTokenSource(o: CallersOptions): (name: string) => Promise<string> {
  const kept = new Map<string, KeptToken>();

  function fetchToken(name: string): KeptToken {
    const entry: KeptToken = { token: load(), refreshAtMs: Number.POSITIVE_INFINITY };
    async function load(): Promise<string> {
      try {
        const answer = await ask(o, "/token", { user: name });
        const { access_token: token, expires_in: seconds } = answer as { access_token: string; expires_in: number };
        entry.refreshAtMs = o.now() + seconds * 1_000 - refreshBeforeMs;
        return token;
      } catch (error) {
        kept.delete(name);
        throw error;
      }
    }
    return entry;
  }

  return (name) => {
    const known = kept.get(name);
    if (known && o.now() < known.refreshAtMs) return known.token;
    const entry = fetchToken(name);
    kept.set(name, entry);
    return entry.token;
  };
}

async function ask({ issuer, fetch }: CallersOptions, path: string, body?: unknown): Promise<unknown> {
  const signal = AbortSignal.timeout(issuerTimeoutMs);
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(issuer + path, body === undefined ? { signal } : { ...post, signal }).catch(
    () => undefined,
  );
  if (!response)
    throw new Error(`The token issuer does not answer at ${issuer}. Start it with npm start, or go on as nobody.`);
  if (!response.ok) throw new Error(`The token issuer at ${issuer} answered ${response.status} for ${path}.`);
  return response.json();
}
