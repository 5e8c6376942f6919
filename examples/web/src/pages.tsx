import { type ReactNode, useState } from "react";

/** Called by the last page when the user wants the next one. Undefined for the others. */
export type OnMore = ((cursor: string) => void) | undefined;

/** Each page requests its own part of a list: the one after its cursor. Undefined is the first. */
export function Pages({ children }: { readonly children: (after: string | undefined, onMore: OnMore) => ReactNode }) {
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const onMore = (cursor: string) => setCursors([...cursors, cursor]);
  return cursors.map((after, index) => (
    <div key={after ?? ""}>{children(after, index === cursors.length - 1 ? onMore : undefined)}</div>
  ));
}

export function MoreButton({ next, onMore }: { readonly next: string | null | undefined; readonly onMore: OnMore }) {
  if (!next || !onMore) return null;
  return <button onClick={() => onMore(next)}>More</button>;
}
