// The documents of one bundle, by their ids and texts.
import { createHash } from "node:crypto";
import type { TrustedDocument, TrustedDocuments } from "../engine/parse/trusted-documents.ts";

export interface RegisteredDocument extends TrustedDocument {
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
  const byText = new Map<string, TrustedDocument>();
  const byId = new Map<string, string>();
  const registeredById = new Map<string, RegisteredDocument>();
  for (const entry of registered) {
    const { id, ...document } = entry;
    if (document.untilMs <= nowMs) continue;
    const known = byText.get(document.text);
    if (!known || document.untilMs >= known.untilMs) byText.set(document.text, document);
    if (id === undefined) continue;
    const other = registeredById.get(id);
    if (other && other.text !== document.text)
      throw new RepeatedId(
        `the id ${id} of ${describeDocument(entry)} is that of another document of ${describeDocument(other)}`,
      );
    registeredById.set(id, entry);
    byId.set(id, document.text);
  }
  for (const text of byText.keys()) {
    const hash = createHash("sha256").update(text).digest("hex");
    for (const id of [hash, `sha256:${hash}`]) if (!byId.has(id)) byId.set(id, text);
  }
  const documentById = new Map([...byId].map(([id, text]) => [id, byText.get(text)]));
  const ifCurrent = (document: TrustedDocument | undefined) =>
    document && document.untilMs > Date.now() ? document : undefined;
  return {
    findById: (id) => ifCurrent(documentById.get(id)),
    findByText: (text) => ifCurrent(byText.get(text)),
    list: () => [...byText.values()].filter(ifCurrent),
  };
}

export const noTrustedDocuments = createTrustedDocuments([]);

/** Whose it is: for the log of the operator. */
function describeDocument({ client, file, owner }: TrustedDocument): string {
  return `${client} (${file}, ${owner})`;
}
