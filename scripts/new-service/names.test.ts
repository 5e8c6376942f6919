import { expect, test } from "vitest";
import { createRenaming, type NewServiceNames, pluralize, spell } from "./names.ts";

const names: NewServiceNames = {
  service: "line-items",
  entity: "LineItem",
  plural: "LineItems",
  parent: "User",
  team: "@tributary/line-items-team",
  port: 4005,
};

test("every spelling follows from the words of a name", () => {
  expect(spell("LineItem")).toEqual({
    pascal: "LineItem",
    camel: "lineItem",
    snake: "line_item",
    kebab: "line-item",
    prose: "line item",
    sentence: "Line item",
  });
  expect([spell("X2Thing").snake, spell("X2Thing").kebab, spell("Review").camel]).toEqual([
    "x2_thing",
    "x2-thing",
    "review",
  ]);
});

test.each([
  ["Review", "Reviews"],
  ["Category", "Categories"],
  ["Day", "Days"],
  ["Box", "Boxes"],
  ["Branch", "Branches"],
])("the plural of %s is %s", (noun, plural) => {
  expect(pluralize(noun)).toBe(plural);
});

test.each([
  ["listSpareGadgets, /spare-gadgets/:id", "listLineItems, /line-items/:id"],
  ["spare_gadgets.parent_thing_id", "line_items.user_id"],
  ["gadget-shop:write, GADGET", "line-items:write, GADGET"],
  ["@tributary/template-team 4950 5050 49500", "@tributary/line-items-team 4005 4105 49500"],
  ["A spare gadget of a parent thing.", "A line item of a user."],
])("%s becomes %s", (text, renamed) => {
  expect(createRenaming(names)(text)).toBe(renamed);
});

test.each([
  ["Invoice", "an invoice"],
  ["Unit", "a unit"],
  ["X2Thing", "an x2 thing"],
  ["Review", "a review"],
])("the article before %s gives: %s", (entity, text) => {
  expect(createRenaming({ ...names, entity, plural: `${entity}s` })("a spare gadget")).toBe(text);
});
