// The documents of known clients that are in use: those of the last bundle that could be used.
import { createHash } from "node:crypto";
import type { Config } from "../config.ts";
import type { LoadOutcome } from "../engine/generation/generations.ts";
import type { TrustedDocuments } from "../engine/parse/trusted-documents.ts";
import type { GatewayObserver } from "../observations.ts";
import { createLastGood } from "../supergraph/last-good.ts";
import { createSource } from "../supergraph/source.ts";
import { type SupergraphStatus, watchSupergraph } from "../supergraph/supergraph-watcher.ts";
import { readBundle, UnusableBundle } from "./document-bundle.ts";
import { noTrustedDocuments } from "./registered-documents.ts";

export interface DocumentStore {
  /** Empty until a bundle is loaded. */
  readonly current: TrustedDocuments;
  readonly isLoaded: boolean;
  status(): SupergraphStatus;
  stop(): void;
}

export interface DocumentStoreOptions {
  readonly source: NonNullable<Config["documents"]>;
  readonly pollMs: number;
  readonly observe: GatewayObserver;
}

/** Reads the bundle at once, and watches it. One that cannot be used is reported and changes nothing. */
export function openDocumentStore({ source, pollMs, observe }: DocumentStoreOptions): DocumentStore {
  let current = noTrustedDocuments;
  let isLoaded = false;

  function load(text: string): Promise<LoadOutcome> {
    try {
      current = readBundle(text);
      isLoaded = true;
      observe({ kind: "documents-loaded", count: current.list().length });
      return Promise.resolve({ kind: "loaded" });
    } catch (cause) {
      if (!(cause instanceof UnusableBundle)) throw cause;
      const id = createHash("sha256").update(text).digest("hex").slice(0, 12);
      observe({ kind: "documents-rejected", cause });
      return Promise.resolve({ kind: "rejected", id, reason: cause.message, subgraphs: [] });
    }
  }

  const { lastGood } = source;
  const watcher = watchSupergraph({
    subject: "documents",
    source: createSource(source),
    pollMs,
    lastGood: lastGood === undefined ? undefined : createLastGood(lastGood, observe),
    load,
    observe,
  });
  return {
    get current() {
      return current;
    },
    get isLoaded() {
      return isLoaded;
    },
    status: watcher.status,
    stop: watcher.stop,
  };
}
