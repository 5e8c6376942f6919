// Stage 4 of 5: run. A client request that needs the same read twice sends it once, even if it fails: also if a write of another client has
// settled in between, since one response should show one state.
import type { Fetch } from "./subgraph-request.ts";

export function withMemo(next: Fetch): Fetch {
  return (request, signal) => {
    const { repeats, service, body } = request;
    if (!repeats) return next(request, signal);
    // JSON contains no raw line break, so the key is unambiguous.
    const key = `${service}\n${body}`;
    const known = repeats.get(key);
    if (known) {
      if (request.progress) request.progress.isShared = true;
      return known;
    }
    const result = next(request, signal);
    repeats.set(key, result);
    return result;
  };
}
