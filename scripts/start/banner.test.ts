import { parse } from "graphql";
import { expect, test } from "vitest";
import { renderBanner, sampleQuery } from "./banner.ts";
import { partNames } from "./parts.ts";
import { readPorts } from "./ports.ts";

const defaults = {
  ports: readPorts({}),
  running: partNames,
  notReady: [],
  tookMs: 3_210,
  hasPostgres: true,
  hasKeys: false,
} as const;

test("the banner lists every address and example requests", () => {
  const text = renderBanner(defaults);
  expect(text).toContain("Tributary is ready (3.2 s)");
  for (const port of [4000, 4001, 4002, 4003, 4004, 4010, 4020]) expect(text).toContain(`http://127.0.0.1:${port}/`);
  expect(text).toContain("127.0.0.1:4032");
  expect(text.match(/^ {2}curl .*:4010\/v2\//gm)).toHaveLength(3);
  expect(text).toContain("  npm run -s token -- ada\n");
  expect(text.endsWith("\n\nPress Ctrl-C to stop.\n")).toBe(true);
  expect(renderBanner({ ...defaults, hasKeys: true })).toMatch(/\n\nPress h to print this again, Ctrl-C to stop\.\n$/);
  expect(text).toContain("for development only");
  expect(parse(sampleQuery).definitions).toHaveLength(1);
});

test("the banner lists only the parts that run, and marks those that are not ready", () => {
  const text = renderBanner({ ...defaults, running: ["users"], notReady: ["users"], hasPostgres: false });
  expect(text).toContain("Tributary is running, but not every part is ready");
  expect(text).toContain("4001/graphql   NOT READY");
  expect(text).not.toMatch(/curl|token|PostgreSQL|4000/);
});

test("the token command names an issuer on another port", () => {
  const text = renderBanner({ ...defaults, ports: readPorts({ ISSUER_PORT: "5020" }) });
  expect(text).toContain("ISSUER_URL=http://127.0.0.1:5020 npm run -s token -- ada");
});
