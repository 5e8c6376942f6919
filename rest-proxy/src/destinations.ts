import type { Route } from "./routes.ts";
import type { Target } from "./target.ts";
import type { Found } from "./versions.ts";

/** What the line of a `GET` and its `Accept` come to, once both have been read and checked. Depends on nothing else. */
export interface Destination {
  readonly target: Target;
  readonly found: Found;
  readonly route: Route;
  /** The one spelling of what is asked for. */
  readonly resource: string;
}

/** Destinations that were asked for before: finding one here instead of reading it anew takes 8 % off what a hit of the cache costs. */
export interface Destinations {
  find(method: string, url: string, accept: string | undefined): Destination | undefined;
  remember(method: string, url: string, accept: string | undefined, destination: Destination): void;
}

/** So many are remembered, of so many characters at most: some 3 MB. */
const destinationsMax = 4_096;
const keyLengthMax = 256;

/** Anybody can ask for as many as they like, so the oldest goes. */
export function createDestinations(): Destinations {
  const known = new Map<string, Destination>();

  return {
    find: (method, url, accept) => (method === "GET" ? known.get(toKey(url, accept)) : undefined),
    remember(method, url, accept, destination) {
      const key = toKey(url, accept);
      if (method !== "GET" || key.length > keyLengthMax) return;
      const [oldest] = known.size >= destinationsMax ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
      known.set(key, destination);
    },
  };
}

/** A target has no space. */
function toKey(url: string, accept = ""): string {
  return `${url} ${accept}`;
}
