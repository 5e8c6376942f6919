// Who uses the deprecated elements of both APIs: what `npm run ledger` writes, and `npm run check` takes as evidence.
import { z } from "zod";

const use = z.strictObject({
  /** A name of KNOWN_CLIENTS, `other` or `unnamed`. */
  client: z.string(),
  /** False: the client only claims its name. */
  verified: z.boolean(),
  requests: z.number(),
  /** Whole days since the last request; 0 if it was in the last 24 hours. */
  daysAgo: z.int().min(0),
});

const element = z.strictObject({
  /** As `npm run check` names it: `Post.body`, `GET /posts/:id v1`. */
  element: z.string(),
  owners: z.array(z.string()),
  /** The reason, or the dates of a version. */
  deprecation: z.string(),
  /** Up to `until`, without a gap in which nothing was counted. */
  wholeDays: z.int().min(0),
  uses: z.array(use),
});

export const usageEvidence = z.strictObject({
  until: z.iso.datetime(),
  days: z.int().min(1),
  elements: z.array(element),
});

export type Use = Readonly<z.infer<typeof use>>;
export type UsedElement = Readonly<z.infer<typeof element>>;
export type UsageEvidence = Readonly<z.infer<typeof usageEvidence>>;

/** Whole days up to `until` in which no client used it, as far as the data shows. */
export function unusedDaysOf({ wholeDays, uses }: Pick<UsedElement, "wholeDays" | "uses">): number {
  return Math.min(wholeDays, ...uses.map(({ daysAgo }) => daysAgo));
}

/** `web`, `mobile (claimed)`. `other` and `unnamed` are no names. */
export function printClient({ client, verified }: Pick<Use, "client" | "verified">): string {
  const isName = client !== "other" && client !== "unnamed";
  return isName && !verified ? `${client} (claimed)` : client;
}
