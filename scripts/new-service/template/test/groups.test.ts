import { testCacheGroups } from "@tributary/kit/testing/cache-groups";
import { groupsOfChange } from "../src/groups.ts";
import { routes } from "../src/rest/routes.ts";
import { newBody, scope, startService } from "./fixtures.ts";

const title = "Fresh";
const input = newBody();

testCacheGroups({
  service: "gadget-shop",
  start: startService,
  routes,
  schema: new URL("../schema.graphql", import.meta.url),
  groupsOfChange,
  callers: { ada: ["1", scope], grace: ["2", scope] },
  reads: [
    ...["/spare-gadgets", "/spare-gadgets?limit=2", "/spare-gadgets?limit=3&sort=oldest"],
    // BEGIN parent
    ...["/spare-gadgets?parentThingId=1&limit=2", "/spare-gadgets?parentThingId=2", "/spare-gadgets?parentThingId=99"],
    "/spare-gadgets?parentThingId=malformed",
    // END parent
    ...["/spare-gadgets/1", "/spare-gadgets/3", "/spare-gadgets/4", "/spare-gadgets/99"],
  ],
  queries: [
    ...["1", "4", "99"].map((id) => `spareGadget(id: "${id}")`),
    ...["spareGadgets", "spareGadgets(first: 2)"],
    // BEGIN parent
    ...["2", "99", "malformed"].map((id) => `spareGadgets(parentThingId: "${id}")`),
    // END parent
  ],
  entities: [
    ...["1", "4", "99"].map((id) => ({ __typename: "SpareGadget", id })),
    // BEGIN parent
    ...["1", "2", "99", "malformed"].map((id) => ({ __typename: "ParentThing", id })),
    // END parent
  ],
  writes: {
    visible: [
      { rest: "POST /spare-gadgets", as: "ada", body: input },
      // BEGIN parent
      { rest: "POST /spare-gadgets", as: "ada", body: { ...input, parentThingId: "99" } },
      { sql: "update spare_gadgets set parent_thing_id = 3 where parent_thing_id = 1" },
      // END parent
      { rest: "PATCH /spare-gadgets/3", as: "ada", body: { title } },
      { rest: "PATCH /spare-gadgets/4", as: "ada", body: { title } },
      { rest: "DELETE /spare-gadgets/3", as: "ada" },
      { rest: "DELETE /spare-gadgets/4", as: "ada" },
      { mutation: "createSpareGadget", as: "ada", input },
      { mutation: "changeSpareGadget", as: "grace", input: { id: "1", title } },
      { mutation: "deleteSpareGadget", as: "grace", input: { id: "1" } },
      { sql: "delete from spare_gadgets" },
    ],
    hidden: [],
    rejected: [
      { rest: "POST /spare-gadgets", as: "ada", body: {} },
      { rest: "PATCH /spare-gadgets/1", as: "ada", body: { title } },
      { rest: "DELETE /spare-gadgets/1", as: "ada" },
      { mutation: "deleteSpareGadget", as: "ada", input: { id: "1" } },
    ],
  },
  // A text, boolean or integer column needs no case here.
  tables: {
    spare_gadgets: {
      // BEGIN parent
      insert: "(parent_thing_id, author_id, title) values (1, 99, 'Fresh')",
      // END parent
      // ALONE insert: "(author_id, title) values (99, 'Fresh')",
      where: "id = 3",
      update: {
        id: "99",
        // BEGIN parent
        parent_thing_id: "99",
        // END parent
        author_id: "99",
        created_at: "now() - interval '1 s'",
        updated_at: "now() - interval '1 s'",
        row_version: "1",
      },
    },
  },
});
