import fc from "fast-check";
import { expect, test } from "vitest";
import { renderHtml } from "./html.ts";

test("empty lines separate paragraphs, single line breaks remain", () => {
  expect(renderHtml("One.\r\nTwo.\n\n  \n\nThree.\n")).toBe("<p>One.<br>Two.</p><p>Three.</p>");
  expect(renderHtml("  \n\t\n")).toBe("");
});

test("markup in the text is shown as text", () => {
  expect(renderHtml(`<script>alert("1 & 2")</script> it's`)).toBe(
    "<p>&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt; it&#39;s</p>",
  );
});

test("for any text the only tags are <p> and <br>, and every quote is escaped", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(renderHtml(text).replaceAll(/<\/?p>|<br>/g, "")).not.toMatch(/[<>"']/);
    }),
  );
});
