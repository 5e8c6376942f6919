import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
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

/** At most some 6 MB: as many URLs, each with the values of `Accept` that came last, of at most so many characters together. */
const urlsMax = 4_096;
const formsMax = 2;
const keyLengthMax = 256;

/** What one value of `Accept` selects at a URL. */
interface Form {
  readonly accept: string | undefined;
  readonly destination: Destination;
}

/** Clients choose what is remembered, so the oldest is dropped. */
export function createDestinations(): Destinations {
  // By URL alone: joining it with `Accept` for one key would cost more than the look-up.
  const known = createBoundedMap<readonly Form[]>({ entriesMax: urlsMax });

  return {
    find(method, url, accept) {
      if (method !== "GET") return undefined;
      for (const form of known.get(url) ?? []) if (form.accept === accept) return form.destination;
      return undefined;
    },
    remember(method, url, accept, destination) {
      if (method !== "GET" || url.length + (accept?.length ?? 0) > keyLengthMax) return;
      const forms = known.get(url) ?? [];
      known.set(url, [{ accept, destination }, ...forms].slice(0, formsMax));
    },
  };
}
