import { buildSchema, parse, print, visit } from "graphql";
import { listDeprecatedElements } from "@tributary/kit/federation/deprecated-elements";
import { describe, expect, test } from "vitest";
import type { Change } from "../changes/changes.ts";
import { findRouteChanges } from "../changes/route-changes.ts";
import { findSchemaChanges } from "../changes/schema-changes.ts";
import type { Route } from "../routes/routes.ts";
import { findStaleness, judgeUsage } from "./judge-usage.ts";
import type { UsageEvidence, UsedElement, Use } from "./usage.ts";

const until = "2026-11-28T09:00:00.000Z";
const registeredClients = new Set(["web"]);
const removal: Change = {
  level: "breaking",
  code: "FIELD_REMOVED",
  subject: "Post.body",
  message: "Removed.",
  advice: "",
  places: [],
  breaks: [],
};
const routes = [
  { id: "getPost", method: "GET", path: "/posts/:id", versions: [1, 2], query: [] },
  { id: "getDraft", method: "GET", path: "/drafts", versions: [1], query: [] },
] as unknown as readonly Route[];

describe("a removal", () => {
  const used = (use: Partial<Use>): Use => ({ client: "other", verified: false, requests: 1, daysAgo: 3, ...use });
  const elementOf = (element: Partial<UsedElement> = {}): UsedElement => ({
    ...{ element: "Post.body", owners: [], deprecation: "", wholeDays: 30, uses: [] },
    ...element,
  });
  const judge = (element: Partial<UsedElement>, change: Change = removal) =>
    judgeAll([elementOf(element)], [change])[0];

  test("that no client used for 30 whole days is dangerous, not breaking", () => {
    expect(judge({})).toEqual({
      ...removal,
      level: "dangerous",
      message: "Removed. No client used it in the 30 days before 2026-11-28.",
      advice: "nothing: it needs no entry in supergraph/accepted-changes.yaml.",
    });
    expect(judge({ wholeDays: 45, uses: [used({ daysAgo: 40 })] })?.message).toContain("in the 40 days before");
  });

  test("whose use is known for fewer days remains breaking", () => {
    const text = "Removed. Its use is known for 29 whole days, and 30 are needed.";
    expect(judge({ wholeDays: 29 })).toEqual({ ...removal, message: text });
  });

  test("of an element that the evidence lacks changes nothing", () => {
    expect(judge({ element: "Post.text" })).toBe(removal);
  });

  test("names the clients that used it in the last 30 days", () => {
    const uses = [used({ client: "web", verified: true }), used({ client: "shop" }), used({ daysAgo: 29 })];
    expect(judge({ uses })).toEqual({ ...removal, message: "Removed. It is used by web, shop (claimed), other." });
    expect(judge({ uses: [used({ client: "unnamed" })] })?.level).toBe("breaking");
  });

  test("is dangerous if a request only claims to be of a client whose operations do not need it", () => {
    const uses = [used({ client: "web" })];
    expect(judge({ uses })).toMatchObject({
      level: "dangerous",
      message: expect.stringContaining("only requests used it that claim") as string,
    });
    expect(judge({ uses, wholeDays: 12 })?.level).toBe("breaking");
    expect(judge({ uses: [...uses, used({ client: "web", verified: true })] })?.level).toBe("breaking");
  });

  test("that an operation of a known client needs remains breaking, though no client sent it", () => {
    const needed = { ...removal, breaks: [{ release: "web@4", owner: "@acme/web-team", operations: ["Feed"] }] };
    expect(judge({}, needed)).toBe(needed);
  });

  test("another breaking change of the element remains breaking", () => {
    const retyped = { ...removal, code: "FIELD_TYPE_CHANGED" };
    expect(judge({}, retyped)).toBe(retyped);
  });
});

describe("a removal from the REST API", () => {
  const element = { element: "GET /posts/:id v1", owners: [], deprecation: "", wholeDays: 30, uses: [] };
  const { breaks: _, ...rest } = removal;
  const document: Change = { ...rest, code: "DOCUMENT_CHANGED", subject: "getPost in v1: was removed" };
  const toState = (list: readonly Route[]) => ({ routes: list, read: () => undefined });

  test("of an unused version of a route is dangerous, with its part of the OpenAPI document", () => {
    const now = routes.map((route) => (route.id === "getPost" ? { ...route, versions: [2] } : route));
    const changes = [...findRouteChanges(toState(routes), toState(now), []), document];
    expect(changes.map(({ level }) => level)).toEqual(["breaking", "breaking"]);
    expect(judgeAll([element], changes).map(({ level }) => level)).toEqual(["dangerous", "dangerous"]);
    const claimed = { client: "web", verified: false, requests: 1, daysAgo: 0 };
    // Clients register no REST requests, so nothing disproves the claim.
    const levels = judgeAll([{ ...element, uses: [claimed] }], changes).map(({ level }) => level);
    expect(levels).toEqual(["breaking", "breaking"]);
  });

  test("of a route is dangerous only if each of its versions is unused", () => {
    const changes = findRouteChanges(toState(routes), toState([]), []);
    const judged = judgeAll([element, { ...element, element: "GET /drafts v1" }], changes);
    expect(judged.map(({ subject, level }) => [subject, level])).toEqual([
      ["GET /posts/:id", "breaking"],
      ["GET /drafts", "dangerous"],
    ]);
  });

  test("of a whole document is dangerous only if each of its routes is unused", () => {
    const whole = { ...document, subject: "v1: no longer has a document" };
    expect(judgeAll([element], [whole])[0]?.level).toBe("breaking");
    expect(judgeAll([element, { ...element, element: "GET /drafts v1" }], [whole])[0]?.level).toBe("dangerous");
  });
});

test("evidence counts for seven days", () => {
  const of = (day: string) => findStaleness({ until: `${day}T23:59:00.000Z`, days: 30, elements: [] }, "2026-11-28");
  expect([of("2026-11-28"), of("2026-11-21")]).toEqual([undefined, undefined]);
  for (const day of ["2026-11-20", "2026-11-29"]) expect(of(day)).toContain("it changes nothing");
});

test("of every deprecated element of a schema exactly the removal of an unused one is dangerous", async () => {
  const fields = Array.from(
    { length: 12 },
    (_, i) => `f${i}(a: Int b${i}: Int @deprecated): Int ${i % 2 ? "@deprecated" : ""}`,
  );
  const sdl = `
    type Query { f(input: Input, kind: Kind): Thing }
    type Thing { keep: Int ${fields.join(" ")} }
    input Input { keep: Int ${fields.map((_, i) => `i${i}: Int @deprecated`).join(" ")} }
    enum Kind { KEEP ${fields.map((_, i) => `K${i} @deprecated`).join(" ")} }
  `;
  const names = [...listDeprecatedElements(buildSchema(sdl)).keys()];
  expect(names.length).toBe(42);
  const isUnused = (index: number) => index % 3 === 0;
  const elements = names.map((element, index) => ({
    ...{ element, owners: [], deprecation: "", wholeDays: index % 3 === 1 ? 7 : 30 },
    uses: index % 3 === 2 ? [{ client: "other", verified: false, requests: 1, daysAgo: 0 }] : [],
  }));
  for (const [index, name] of names.entries()) {
    const toState = (apiSdl: string) => ({ apiSdl, supergraphSdl: apiSdl, sources: [] });
    const changes = await findSchemaChanges(toState(sdl), toState(withoutElement(sdl, name)));
    expect(changes.map(({ subject, level }) => [subject, level])).toEqual([[name, "breaking"]]);
    const judged = judgeAll(
      elements,
      changes.map((change) => ({ ...change, breaks: [] })),
    );
    expect(
      judged.map(({ level }) => level),
      name,
    ).toEqual([isUnused(index) ? "dangerous" : "breaking"]);
  }
});

function judgeAll(elements: readonly UsedElement[], changes: readonly Change[]): readonly Change[] {
  const evidence = { until, days: 30, elements } as UsageEvidence;
  return judgeUsage(changes, { evidence, routes, registeredClients });
}

function withoutElement(sdl: string, coordinate: string): string {
  const path: string[] = [];
  const node = {
    enter({ name }: { readonly name: { readonly value: string } }) {
      path.push(name.value);
      if (path.join(".") !== coordinate) return undefined;
      path.pop();
      return null;
    },
    leave: () => void path.pop(),
  };
  return print(
    visit(parse(sdl), {
      ObjectTypeDefinition: node,
      InputObjectTypeDefinition: node,
      EnumTypeDefinition: node,
      FieldDefinition: node,
      InputValueDefinition: node,
      EnumValueDefinition: node,
    }),
  );
}
