import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findFreePort, readServices } from "../../supergraph/services.ts";
import { createRepository } from "../../test/architecture/repository.ts";
import { listViolations, rules } from "../../test/architecture/rules.ts";
import { type NewServiceNames, pluralize } from "./names.ts";
import { findProblems } from "./requirements.ts";
import { renderTemplate } from "./template.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const services = readServices(root);
/** No service of the repository has these names. */
const valid: NewServiceNames = {
  service: "q9-parts",
  entity: "Q9Part",
  plural: "Q9Parts",
  parent: "Post",
  team: "@tributary/q9-team",
  port: findFreePort(services),
};

test.each([valid, { ...valid, parent: undefined }, { ...valid, parent: "User" }, { ...valid, entity: "Q9Item" }])(
  "a service with other names than all others is possible",
  (names) => {
    expect(findProblems(root, services, names)).toEqual([]);
  },
);

test.each<[Partial<NewServiceNames>, RegExp]>([
  [
    { service: "users" },
    /^There is a service users already\. Choose another name, or remove it: npm run remove:service -- users$/,
  ],
  [{ service: "Parts" }, /^name has to be lower-case words and digits joined by hyphens/],
  [{ service: "gateway" }, /^name "gateway" is reserved for another part of the platform/],
  [{ service: "a-name-of-19-letters" }, /^name has to have at most 18 characters: the names of cache groups/],
  [{ port: 4001 }, /have the same port 4001\. Change the port of one of them\.$/],
  [{ port: 4020 }, /4020 is the port of the issuer/],
  [{ team: "parts" }, /^team has to be a team or a user on GitHub/],
  [{ entity: "q9Part" }, /^--entity q9Part has to be words with a capital letter each, such as Review or LineItem/],
  [{ entity: "URLPart" }, /write Url, not URL/],
  [{ plural: "Q9Part" }, /^The plural of Q9Part has to differ from it.* --plural Q9PartList/],
  [
    { entity: "Comment", plural: "Comments" },
    /^Comment does not fit the other schemas:\n[^]*"Query\.comments?"[^]*\nChoose another --entity or --plural\.$/,
  ],
  [{ entity: "Reference", plural: "References" }, /^--entity Reference does not work: references has another meaning/],
  [{ entity: "Date", plural: "Dates" }, /^--entity Date does not work: Date has another meaning.*such as SalesDate\.$/],
  [{ parent: "Blog" }, /^--extends Blog is not possible: .* These are .*Comment, Post.*, User/],
  [{ parent: "Product" }, /^--extends Product is not possible: it takes an entity whose key is one field id: ID!/],
  [{ parent: "Order" }, /^--extends Order is not possible: .* with whole numbers/],
])("%o is an error that says what to do", (change, message) => {
  const [problem = "none"] = findProblems(root, services, { ...valid, ...change });
  expect(problem).toMatch(message);
});

test.each(["Tag", "Item", "Category", "Event", "Class", "Value", "Action"])("an entity can be called %s", (entity) => {
  const collisions = findProblems(root, services, { ...valid, entity, plural: pluralize(entity) });
  expect(collisions.filter((problem) => problem.includes("another meaning"))).toEqual(
    entity === "Value" ? [expect.stringContaining("values")] : [],
  );
});

test.each([valid, { ...valid, parent: undefined }])(
  "a new service complies with the rules of the architecture",
  (names) => {
    const files = [...renderTemplate(names)].filter(([path]) => !path.endsWith(".json"));
    const repository = createRepository(
      Object.fromEntries(files.map(([path, text]) => [`services/q9-parts/${path}`, text])),
    );
    expect(repository.modules.length).toBeGreaterThan(15);
    expect(rules.flatMap((rule) => listViolations(rule, repository))).toEqual([]);
    expect(files.filter(([, text]) => /spare|gadget|parent.?thing/i.test(text) || /BEGIN|ALONE/.test(text))).toEqual(
      [],
    );
  },
);
