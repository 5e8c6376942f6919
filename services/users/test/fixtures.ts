import { inject } from "vitest";
import { startTestService, type TestService } from "@tributary/kit/testing/service";
import { createApp } from "../src/app.ts";

/** The service with the demo users: Ada 1, Grace 2, Linus 3. */
export async function startUsers(): Promise<TestService> {
  const service = await startTestService(inject("postgresUrl"), new URL("../migrations", import.meta.url), createApp);
  await service.database.database.rows(
    "seed",
    `insert into users (name, email, avatar_url, role, prefs) values
      ('Ada Lovelace', 'ada@example.org', 'https://example.org/ada.png', 'AUTHOR', '{"locale":"en-GB","theme":"DARK"}'),
      ('Grace Hopper', 'grace@example.org', null, 'EDITOR', null),
      ('Linus Torvalds', null, null, 'READER', null)`,
  );
  service.database.takeStatements();
  return service;
}

export const usual = ["users:write", "posts:write", "comments:write", "orders:read", "orders:write"];
