import fc from "fast-check";
import { expect, test } from "vitest";
import { renderHtml } from "./html.ts";

test("empty lines part paragraphs, single breaks stay breaks", () => {
  expect(renderHtml("One.\r\nTwo.\n\n  \n\nThree.\n")).toBe("<p>One.<br>Two.</p><p>Three.</p>");
  expect(renderHtml("  \n\t\n")).toBe("");
});

test("markup of the text's own is shown, never meant", () => {
  expect(renderHtml(`<script>alert("1 & 2")</script> it's`)).toBe(
    "<p>&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt; it&#39;s</p>",
  );
});

test("whatever is written, the only tags are paragraphs and breaks, and no quote stands bare", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(renderHtml(text).replaceAll(/<\/?p>|<br>/g, "")).not.toMatch(/[<>"']/);
    }),
  );
});
