import type { GatewayObserver } from "../observations.ts";
import { type TextWatcherOptions, watchText } from "./text-watcher.ts";

export interface SupergraphWatcherOptions extends Omit<TextWatcherOptions, "onUnreadable" | "onText"> {
  readonly observe: GatewayObserver;
  readonly onSupergraph: TextWatcherOptions["onText"];
}

/** Returns a function that stops it. */
export function watchSupergraph({ observe, onSupergraph, ...options }: SupergraphWatcherOptions): () => void {
  const source = options.source.name;
  return watchText({
    ...options,
    onUnreadable(cause, isRepeated) {
      if (isRepeated) observe({ kind: "supergraph-still-unavailable", source });
      else observe({ kind: "supergraph-unavailable", source, cause });
    },
    onText: onSupergraph,
  });
}
