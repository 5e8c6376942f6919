import { startTestService, type TestService } from "@tributary/kit/testing/service";
import { inject } from "vitest";
import { createApp } from "../src/app.ts";

/** The scope of a token for the caller's own data. */
export const scope = "gadget-shop:write";

/** Starts the service with new rows of the demo users (Ada 1, Grace 2, Linus 3): 1 by Grace, 2 by Linus, 3 and 4 by Ada. */
export async function startService(): Promise<TestService> {
  const migrations = new URL("../migrations", import.meta.url);
  const service = await startTestService(inject("postgresUrl"), migrations, createApp);
  // BEGIN parent
  // 1 to 3 are of parent thing 1, 4 is of parent thing 2.
  await service.database.database.rows(
    "seed",
    `insert into spare_gadgets (parent_thing_id, author_id, title) values
      (1, 2, 'One'), (1, 3, 'Two'), (1, 1, 'Three'), (2, 1, 'Four')`,
  );
  // END parent
  // ALONE const rows = "insert into spare_gadgets (author_id, title) values (2, 'One'), (3, 'Two'), (1, 'Three'), (1, 'Four')";
  // ALONE await service.database.database.rows("seed", rows);
  service.database.takeStatements();
  return service;
}

// BEGIN parent

let parentThings = 100;
// END parent

/** A request body that creates a row. */
export function newBody() {
  return {
    // BEGIN parent
    // Another one for each row, so that a rule such as one row of each author does not break every test.
    parentThingId: String(++parentThings),
    // END parent
    title: "Fresh",
  };
}
