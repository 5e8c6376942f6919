// Stage 2 of 5: parse. The texts of automatic persisted queries, of this process and of its replicas.
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import type { SharedTexts } from "@tributary/kit/valkey/shared-texts";
import { type GraphqlRequest, persistedHashOf } from "./graphql-request.ts";

export interface PersistedQueries {
  /** Undefined if this process does not have the text. */
  get(hash: string): string | undefined;
  /** Registers a text, for the other replicas too. */
  set(hash: string, text: string): void;
  /** If the request has only a hash, which this process does not know: gets its text from the store, if it is there. Never rejects. */
  load(request: GraphqlRequest): Promise<void>;
  size(): MapSize;
  close(): void;
}

export interface PersistedQueriesOptions {
  /** Undefined: replicas do not share texts. Closed with this object. */
  readonly shared: SharedTexts | undefined;
  readonly onEvicted: () => void;
}

/** The weight is the length in characters. A client sends an evicted text again. */
const bounds = { entriesMax: 10_000, weightMax: 20_000_000 };

export function createPersistedQueries({ shared, onEvicted }: PersistedQueriesOptions): PersistedQueries {
  const texts = createBoundedMap<string>({ ...bounds, onEvicted });
  return {
    get: texts.get,
    set(hash, text) {
      texts.set(hash, text, text.length);
      shared?.store(hash, text);
    },
    async load(request) {
      const hash = request.query === undefined ? persistedHashOf(request) : undefined;
      if (!shared || hash === undefined || texts.get(hash) !== undefined) return;
      const text = await shared.find(hash);
      if (text !== undefined) texts.set(hash, text, text.length);
    },
    size: texts.size,
    close: () => shared?.close(),
  };
}
