/** A bound on what is under way at once, counted by key, so that one that is slow does not take the places of the others. */
export interface InFlightLimit {
  /** Takes a place and hands back the way to leave it (safe to call twice); undefined when all places are taken. */
  enter(key: string): (() => void) | undefined;
}

export function createInFlightLimit({ perKeyMax }: { readonly perKeyMax: number }): InFlightLimit {
  const counts = new Map<string, number>();

  return {
    enter(key) {
      const count = counts.get(key) ?? 0;
      if (count >= perKeyMax) return undefined;
      counts.set(key, count + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        counts.set(key, (counts.get(key) ?? 1) - 1);
      };
    },
  };
}
