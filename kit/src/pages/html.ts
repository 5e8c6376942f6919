/** A piece of HTML that needs no escaping. */
export interface Html {
  readonly html: string;
}

type InsertedValue = Html | string | number | undefined | readonly InsertedValue[];

const specialCharacters = /[&<>"']/g;
const paragraphEnd = /\n{2,}/;
const fencedCode = /^```\w*\n([^]*)\n```$/;
const codeSpan = /`([^`]+)`/g;
const strongSpan = /\*\*([^*]+)\*\*/g;
/** `//` would be another server. Without `[` in its text, a link is found in linear time. */
const pageLink = /\[([^[\]]+)\]\((\/(?!\/)[A-Za-z0-9./#-]*)\)/g;

/** Inserted values are escaped, except `Html`. Undefined inserts nothing. */
export function html(texts: TemplateStringsArray, ...values: readonly InsertedValue[]): Html {
  return { html: texts.map((text, index) => text + writeValue(values[index])).join("") };
}

function writeValue(value: InsertedValue): string {
  if (value === undefined) return "";
  if (isList(value)) return value.map(writeValue).join("");
  return typeof value === "object" ? value.html : escape(String(value));
}

function isList(value: InsertedValue): value is readonly InsertedValue[] {
  return Array.isArray(value);
}

function escape(text: string): string {
  return text.replaceAll(specialCharacters, (character) => `&#${character.codePointAt(0)};`);
}

/** Paragraphs, fenced code without empty lines, `code`, **strong** and links to pages of this server. */
export function markdown(text: string): Html {
  return { html: text.split(paragraphEnd).map(writeBlock).join("") };
}

function writeBlock(block: string): string {
  const code = fencedCode.exec(block)?.[1];
  return code === undefined ? `<p>${writeInline(block)}</p>` : `<pre>${escape(code)}</pre>`;
}

function writeInline(paragraph: string): string {
  return escape(paragraph)
    .replaceAll(codeSpan, "<code>$1</code>")
    .replaceAll(strongSpan, "<strong>$1</strong>")
    .replaceAll(pageLink, '<a href="$2">$1</a>');
}
