// The documents of known clients that are in use: those of the last bundle that could be used. Before a bundle or a supergraph is in use, each document
// is validated and planned for it.
import { createHash } from "node:crypto";
import type { Config } from "../config.ts";
import type { Generation, LoadOutcome } from "../engine/generation/generations.ts";
import type { TrustedDocument, TrustedDocuments } from "../engine/parse/trusted-documents.ts";
import type { GatewayObserver, InvalidDocument } from "../observations.ts";
import { createLastGood } from "../supergraph/last-good.ts";
import { createSource } from "../supergraph/source.ts";
import { type SupergraphStatus, watchSupergraph } from "../supergraph/supergraph-watcher.ts";
import { readBundle, UnusableBundle } from "./document-bundle.ts";
import { noTrustedDocuments } from "./registered-documents.ts";

export interface DocumentStore {
  /** Empty until a bundle is loaded. */
  readonly current: TrustedDocuments;
  readonly source: string;
  /** Undefined until a bundle is loaded. */
  readonly loadedAtMs: number | undefined;
  /** For a generation that is about to be used. What takes too long is continued when it is. Never rejects. */
  prepare(next: Generation): Promise<void>;
  status(): DocumentsStatus;
  stop(): void;
}

export interface DocumentsStatus extends SupergraphStatus {
  readonly counts: Readonly<Record<"planned" | "invalid" | "pending", number>>;
  /** At most the first 20. */
  readonly invalid: readonly InvalidDocument[];
}

export interface DocumentStoreOptions {
  readonly source: NonNullable<Config["documents"]>;
  readonly pollMs: number;
  readonly generationInUse: () => Generation | undefined;
  /** How long a start, a new supergraph and a new bundle wait until their documents are planned. */
  readonly prepareMsMax?: number;
  readonly observe: GatewayObserver;
}

/** A start waits for this many documents, in the order of the bundle. On an idle machine they take a few seconds, and all of a large bundle half a minute. */
const startDocumentsMax = 500;
/** How long a start waits for the bundle. Longer than the watcher, which then uses the last good one. */
const firstLoadMsMax = 3_000;
const listedMax = 20;

/** Reads the bundle at once, and watches it. One that cannot be used is reported and changes nothing. */
export function openDocumentStore(o: DocumentStoreOptions): DocumentStore {
  const { source, pollMs, generationInUse, prepareMsMax = 10_000, observe } = o;
  const limits = { prepareMsMax, observe };
  const firstLoad = Promise.withResolvers<void>();
  const firstLoadTimer = setTimeout(firstLoad.resolve, firstLoadMsMax);
  let current = noTrustedDocuments;
  let loadedAtMs: number | undefined;

  async function load(text: string): Promise<LoadOutcome> {
    try {
      const next = readBundle(text);
      await prepareInUse(next);
      current = next;
      loadedAtMs = Date.now();
      observe({ kind: "documents-loaded", count: next.list().length });
      return { kind: "loaded" };
    } catch (cause) {
      if (!(cause instanceof UnusableBundle)) {
        observe({ kind: "internal-error", cause });
        return { kind: "retry" };
      }
      const id = createHash("sha256").update(text).digest("hex").slice(0, 12);
      observe({ kind: "documents-rejected", cause });
      return { kind: "rejected", id, reason: cause.message, subgraphs: [] };
    } finally {
      firstLoad.resolve();
    }
  }

  /** Another supergraph may come into use meanwhile. */
  async function prepareInUse(documents: TrustedDocuments): Promise<void> {
    let generation: Generation | undefined;
    while (generation !== generationInUse()) {
      generation = generationInUse();
      if (generation) await prepareIn(generation, documents.list(), limits);
    }
  }

  /** Another bundle may come into use meanwhile. */
  async function prepare(next: Generation): Promise<void> {
    await firstLoad.promise;
    let documents: TrustedDocuments | undefined;
    while (documents !== current) {
      documents = current;
      const awaitedMax = generationInUse() ? Infinity : startDocumentsMax;
      await prepareIn(next, documents.list(), { ...limits, awaitedMax });
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
    source: watcher.source,
    get loadedAtMs() {
      return loadedAtMs;
    },
    prepare,
    status: () => ({ ...watcher.status(), ...countDocuments(generationInUse(), current.list()) }),
    stop() {
      clearTimeout(firstLoadTimer);
      firstLoad.resolve();
      watcher.stop();
    },
  };
}

interface PreparationLimits {
  readonly prepareMsMax: number;
  readonly awaitedMax?: number;
  readonly observe: GatewayObserver;
}

/** Resolves when the first `awaitedMax` documents are prepared, at the latest after `prepareMsMax`; then the preparation continues. */
async function prepareIn(
  { documents }: Generation,
  list: readonly TrustedDocument[],
  { prepareMsMax, awaitedMax = Infinity, observe }: PreparationLimits,
): Promise<void> {
  let reported = 0;
  const report = () => {
    const invalid = listInvalid(documents, list);
    if (invalid.length > reported)
      observe({ kind: "documents-invalid", count: invalid.length, documents: invalid.slice(0, listedMax) });
    reported = invalid.length;
  };
  const awaited = Promise.withResolvers<void>();
  const all = documents.prepare(list, (count) => {
    if (count >= awaitedMax) awaited.resolve();
  });
  await waitAtMost(prepareMsMax, Promise.race([awaited.promise, all]));
  report();
  void all.then(report);
}

function countDocuments(
  inUse: Generation | undefined,
  list: readonly TrustedDocument[],
): Pick<DocumentsStatus, "counts" | "invalid"> {
  const invalid = inUse ? listInvalid(inUse.documents, list) : [];
  const prepared = list.filter((document) => inUse?.documents.isPrepared(document)).length;
  const counts = { planned: prepared - invalid.length, invalid: invalid.length, pending: list.length - prepared };
  return { counts, invalid: invalid.slice(0, listedMax) };
}

function listInvalid(
  { problemOf }: Generation["documents"],
  documents: readonly TrustedDocument[],
): readonly InvalidDocument[] {
  return documents.flatMap((document) => {
    const problem = problemOf(document);
    const { client, owner, file, operationNames: operations } = document;
    return problem === undefined ? [] : [{ client, owner, file, operations, problem }];
  });
}

async function waitAtMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, timeout]);
  clearTimeout(timer);
}
