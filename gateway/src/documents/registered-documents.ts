// The documents of one bundle, by their ids and texts.
import { createHash } from "node:crypto";
import type { TrustedDocument, TrustedDocuments } from "../engine/parse/trusted-documents.ts";

export interface RegisteredDocument extends Omit<TrustedDocument, "untilMsByClient"> {
  /** Undefined: its hash is its only id. */
  readonly id: string | undefined;
}

/** Two documents with one id: the gateway finds a document by its id alone, whichever client sends it. */
export class RepeatedId extends Error {}

/**
 * The hash of a text is an id too, also with the prefix of GraphQL over HTTP ("Persisted Documents"), unless it is the registered id of another
 * document. A text that is registered several times is one document, which expires last.
 * @throws RepeatedId
 */
export function createTrustedDocuments(registered: readonly RegisteredDocument[]): TrustedDocuments {
  const nowMs = Date.now();
  const byText = new Map<string, TrustedDocument & { readonly untilMsByClient: Map<string, number> }>();
  const byId = new Map<string, RegisteredDocument>();
  for (const entry of registered) {
    const { id, ...registration } = entry;
    const { client, untilMs, text } = registration;
    if (untilMs <= nowMs) continue;
    const known = byText.get(text);
    // Not a copy: a text that many clients have registered would take quadratic time.
    const untilMsByClient = known?.untilMsByClient ?? new Map<string, number>();
    untilMsByClient.set(client, Math.max(untilMs, untilMsByClient.get(client) ?? 0));
    const last = known && known.untilMs > untilMs ? known : registration;
    byText.set(text, { ...last, untilMsByClient });
    if (id === undefined) continue;
    const other = byId.get(id);
    if (other && other.text !== text)
      throw new RepeatedId(
        `the id ${id} of ${describeDocument(entry)} is that of another document of ${describeDocument(other)}`,
      );
    if (!other || untilMs >= other.untilMs) byId.set(id, entry);
  }
  const foundById = new Map<string, FoundById>();
  for (const [id, { text, untilMs }] of byId) foundById.set(id, { document: byText.get(text), untilMs });
  for (const [text, document] of byText) {
    const hash = createHash("sha256").update(text).digest("hex");
    for (const id of [hash, `sha256:${hash}`])
      if ((byId.get(id) ?? document).text === text) foundById.set(id, { document, untilMs: document.untilMs });
  }
  const ifCurrent = (document: TrustedDocument | undefined) =>
    document && document.untilMs > Date.now() ? document : undefined;
  return {
    findById(id) {
      const found = foundById.get(id);
      return found && found.untilMs > Date.now() ? found.document : undefined;
    },
    findByText: (text) => ifCurrent(byText.get(text)),
    list: () => [...byText.values()].filter(ifCurrent),
  };
}

interface FoundById {
  readonly document: TrustedDocument | undefined;
  /** Of the id: another id of the same text may expire later. */
  readonly untilMs: number;
}

export const noTrustedDocuments = createTrustedDocuments([]);

/** Whose it is: for the log of the operator. */
function describeDocument({ client, file, owner }: RegisteredDocument): string {
  return `${client} (${file}, ${owner})`;
}
