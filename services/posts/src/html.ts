const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * A text as HTML that shows it and does nothing: every special character escaped, empty lines between paragraphs, line breaks kept.
 * No markup of the text's own comes through, so there is nothing to sanitize.
 */
export function renderHtml(text: string): string {
  const lines = text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "").split(/\r\n|\r|\n/);
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line.trim() === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line.trim());
  }
  return paragraphs
    .filter((paragraph) => paragraph.length > 0)
    .map((paragraph) => `<p>${paragraph.join("<br>")}</p>`)
    .join("");
}
