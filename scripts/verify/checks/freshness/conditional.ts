// The part `conditional` of freshness: after a change by GraphQL, reads the ETag by REST and sends a PATCH with If-Match.
import { replicaOf, startPlatform } from "../../platform/platform.ts";
import { createPostClient, insertPosts } from "./client.ts";
import type { FreshnessPart } from "./part.ts";

const postsCount = 50;

export const conditionalPart: FreshnessPart = {
  name: "conditional",
  purpose: "after a change by GraphQL, GET and PATCH with If-Match by REST succeed at the first attempt",
  control: "the clients send no receipts",
  async run({ options, isControl, claim, onCleanup }) {
    const platform = await startPlatform({
      run: { onCleanup },
      isSeeded: false,
      replicas: { posts: 2, gateway: 1, "rest-proxy": 2 },
    });
    await platform.postgres.query("posts", insertPosts, [postsCount]);
    const client = createPostClient(platform.token);
    const gateway = replicaOf(platform, "gateway").url;
    let succeeded = 0;
    for (let at = 0; at < options.changes; at++) {
      const id = String(1 + (at % postsCount));
      const [reader, writer] = [0, 1].map((index) => replicaOf(platform, "rest-proxy", (at + index) % 2).url);
      // Fills the cache of one REST proxy, so that without a receipt the GET below can return the ETag from before the change.
      await client.readByRest(reader ?? "", id, { isAnonymous: true });
      const changed = await client.writeByGraphql(gateway, id, `change ${at}`);
      const receipt = isControl ? undefined : changed.receipt;
      const { etag } = await client.readByRest(reader ?? "", id, { receipt });
      // No post has the ETag "none": after a GET without an ETag the PATCH fails too.
      const patched = await client.writeByRest(writer ?? "", id, `patch ${at}`, { receipt, ifMatch: etag ?? "none" });
      if (patched.status === 200) succeeded++;
    }
    claim("every PATCH succeeds with the ETag of the GET before it", succeeded === options.changes, {
      measured: `${succeeded} of ${options.changes}`,
      control: "fails",
    });
  },
};
