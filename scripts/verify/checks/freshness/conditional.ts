// The part `conditional` of freshness: after a change by GraphQL, reads the ETag by REST and sends a PATCH with If-Match.
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 50;
const proxiesCount = 2;
/** No post has this ETag: after a GET without an ETag the PATCH fails too. */
const unmatchedEtag = "none";

export const conditionalPart: FreshnessPart = {
  name: "conditional",
  purpose: "after a change by GraphQL, GET and PATCH with If-Match by REST succeed at the first attempt",
  // What `--control` breaks on purpose: each claim below with `control: "fails"` has to fail then.
  control: "the clients send no receipts",
  async run({ options, isControl, claim, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": proxiesCount },
    });
    await platform.postgres.query("posts", insertPosts, [postsCount]);
    const client = createPostClient(platform.token);
    const gateway = replicaOf(platform, "gateway").url;
    let succeeded = 0;
    for (let change = 0; change < options.changes; change++) {
      const id = String(1 + (change % postsCount));
      const reader = replicaOf(platform, "rest-proxy", change % proxiesCount).url;
      const writer = replicaOf(platform, "rest-proxy", (change + 1) % proxiesCount).url;
      // Fills the cache of one REST proxy, so that without a receipt the GET below can return the ETag from before the change.
      await client.readByRest(reader, id, { isAnonymous: true });
      const changed = await client.writeByGraphql(gateway, id, `change ${change}`);
      const receipt = isControl ? undefined : changed.receipt;
      const { etag: ifMatch = unmatchedEtag } = await client.readByRest(reader, id, { receipt });
      const patched = await client.writeByRest(writer, id, `patch ${change}`, { receipt, ifMatch });
      if (patched.status === 200) succeeded++;
    }
    claim("every PATCH succeeds with the ETag of the GET before it", succeeded === options.changes, {
      measured: `${succeeded} of ${options.changes}`,
      control: "fails",
    });
  },
};
