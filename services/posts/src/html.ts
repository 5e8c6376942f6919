const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Converts plain text to HTML: escapes every special character, and turns blank lines into paragraphs and line breaks into `<br>`.
 * Markup in the text is escaped too, so that the result needs no sanitizing.
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
