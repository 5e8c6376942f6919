import { startTestService, type TestService } from "@tributary/kit/testing/service";
import { inject } from "vitest";
import { createApp } from "../src/app.ts";

/**
 * Starts the service with new comments of the demo users (Ada 1, Grace 2, Linus 3) on posts 1 and 2.
 * Comment 5 is deleted, comment 6 was edited.
 */
export async function startComments(clock: () => number = Date.now): Promise<TestService> {
  const migrations = new URL("../migrations", import.meta.url);
  const service = await startTestService(inject("postgresUrl"), migrations, (parts) => createApp({ ...parts, clock }));
  await service.database.database.rows(
    "seed",
    `insert into comments (post_id, author_id, body, edited_at, deleted_at) values
      (1, 2, 'A lovely engine.', null, null),
      (1, 3, 'Show me the code.', null, null),
      (1, 1, 'See note G.', null, null),
      (2, 1, 'How long is a nanosecond?', null, null),
      (1, 2, null, null, date_trunc('milliseconds', now())),
      (2, 3, 'About thirty centimetres.', date_trunc('milliseconds', now()), null)`,
  );
  service.database.takeStatements();
  return service;
}

/** Creates a comment of Ada on post 1. */
export async function writeComment(service: TestService, body = "For now."): Promise<{ id: string; createdAt: Date }> {
  const [comment] = await service.database.database.rows<{ id: string; createdAt: Date }>(
    "write",
    `insert into comments (post_id, author_id, body) values (1, 1, $1) returning id, created_at as "createdAt"`,
    [body],
  );
  service.database.takeStatements();
  return comment as { id: string; createdAt: Date };
}

export const usual = ["users:write", "posts:write", "comments:write", "orders:read", "orders:write"];
