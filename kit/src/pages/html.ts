/** HTML by a tagged template, for the pages that processes serve. */

/** A piece of HTML that needs no escaping. */
export interface Html {
  readonly html: string;
}

type Part = Html | string | number | undefined | readonly Part[];

/** Creates HTML from a template; inserted values are escaped, except `Html`. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: texts.map((text, index) => text + write(parts[index])).join("") };
}

function write(part: Part): string {
  if (part === undefined) return "";
  if (isList(part)) return part.map(write).join("");
  return typeof part === "object" ? part.html : escape(String(part));
}

function isList(part: Part): part is readonly Part[] {
  return Array.isArray(part);
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

/** The subset of Markdown in our descriptions: paragraphs, `code`, **strong** and links to pages of this server. */
export function markdown(text: string): Html {
  return {
    html: text
      .split(/\n{2,}/)
      .map((paragraph) => `<p>${inline(paragraph)}</p>`)
      .join(""),
  };
}

function inline(text: string): string {
  return escape(text)
    .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/\[([^\]]+)\]\((\/(?!\/)[A-Za-z0-9./#-]*)\)/g, '<a href="$2">$1</a>');
}
