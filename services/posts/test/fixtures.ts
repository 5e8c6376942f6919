import { inject } from "vitest";
import { startTestService, type TestService } from "@tributary/kit/testing/service";
import { createApp } from "../src/app.ts";
import type { PostStatus } from "../src/model.ts";

/** The posts of the demo users Ada 1 and Grace 2; Linus 3 has none. */
export const adasPost = "1";
export const adasDraft = "2";
export const adasArchived = "3";
export const gracesPost = "4";
export const gracesDraft = "5";
export const adasEmptyPost = "6";

export const usual = ["users:write", "posts:write", "comments:write", "orders:read", "orders:write"];

/** The service with the demo users' posts. */
export async function startPosts(): Promise<TestService> {
  const service = await startTestService(inject("postgresUrl"), new URL("../migrations", import.meta.url), createApp);
  await service.database.database.rows(
    "seed",
    `insert into posts (author_id, title, body, body_format, status, published_at) values
      (1, 'Notes on the Engine', 'It *weaves* algebra.', 'MARKDOWN', 'PUBLISHED', '2026-01-31T09:30:00Z'),
      (1, 'A draft on numbers', 'Not yet.', 'PLAIN', 'DRAFT', null),
      (1, 'Old notes', 'Once so.', 'PLAIN', 'ARCHIVED', '2025-06-01T00:00:00Z'),
      (2, 'The first bug', 'A moth.', 'PLAIN', 'PUBLISHED', '2026-02-01T00:00:00Z'),
      (2, 'A compiler, perhaps', null, 'PLAIN', 'DRAFT', null),
      (1, 'Numbers of Bernoulli', null, 'PLAIN', 'PUBLISHED', '2026-03-01T00:00:00Z')`,
  );
  service.database.takeStatements();
  return service;
}

/** Creates a post for a test that changes it. */
export async function addPost(service: TestService, status: PostStatus, authorId = "1"): Promise<string> {
  const text = `insert into posts (author_id, title, body, status, published_at)
    values ($1, 'Sample post', 'Text.', $2, case $2 when 'DRAFT' then null else timestamptz '2026-04-01' end) returning id`;
  const [row] = await service.database.database.rows<{ id: string }>("add-post", text, [authorId, status]);
  service.database.takeStatements();
  return row?.id ?? "none";
}
